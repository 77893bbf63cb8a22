// A copy of a process, as fork() makes it, has none of its connections: what it calls there is an
// error, and the process itself goes on.

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "taeda/distributed/distributed.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

namespace dist = distributed;
using testing::AllOf;
using testing::HasSubstr;

/// Prints what `f` says in a copy of this process.
void print_error_in_a_copy(const std::function<void()>& f) {
  const pid_t copy = ::fork();
  if (copy == 0) {
    std::printf("%s\n", error_of(f).c_str());
    std::fflush(stdout);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(copy, &status, 0);
  if (status != 0) std::printf("the copy ended with %d\n", status);
}

void have_a_group_of_its_own() {
  dist::init_process_group(
      "gloo", {.world_size = 1, .rank = 0, .store = std::make_shared<dist::HashStore>()});
  dist::all_reduce(ones({2}));
  dist::destroy_process_group();
}

int copy_oneself() {
  dist::init_process_group(
      "gloo", {.world_size = world_size(), .rank = own_rank(), .store = common_store()});
  const Tensor x = ones({4});
  dist::all_reduce(x);
  const auto late = own_rank() == 0 ? dist::irecv(x, 1) : nullptr;
  print_error_in_a_copy([&] { dist::all_reduce(x); });
  print_error_in_a_copy([] { dist::destroy_process_group(); });
  print_error_in_a_copy([] { dist::new_group({0}); });
  print_error_in_a_copy([] { dist::monitored_barrier(); });
  print_error_in_a_copy([&] {
    if (late) late->wait();
  });
  print_error_in_a_copy([] {  // groups of its own are no matter of that
    if (dist::get_rank() != own_rank()) throw Error("another rank");
    have_a_group_of_its_own();
  });
  if (own_rank() == 1) dist::send(x, 0);
  if (late) late->wait();
  dist::all_reduce(x);
  std::printf("%g\n", x.select(0, 0).item<double>());
  dist::destroy_process_group();
  return 0;
}
const Role copies_itself("copy_oneself", copy_oneself);

TEST(Fork, AGroupBelongsToItsProcess) {
  const MeetingPlace place;
  const auto ranks = start_ranks("copy_oneself", 2, place);
  for (size_t rank = 0; rank < 2; ++rank) {
    for (const char* op : {"all_reduce", "destroy_process_group", "new_group", "monitored_barrier"})
      EXPECT_THAT(
          ranks[rank]->line(),
          AllOf(HasSubstr(std::string(op) + ": the process group 'default' belongs to process"),
                HasSubstr("is a copy of it (fork)")));
    EXPECT_THAT(ranks[rank]->line(),
                HasSubstr(rank == 0 ? "Work::wait: irecv #1 float32[4]" : "no error"));
    EXPECT_EQ(ranks[rank]->line(), "no error");
    EXPECT_EQ(ranks[rank]->line(), "4");
    EXPECT_EQ(ranks[rank]->wait(), 0);
  }
}

int copy_oneself_often() {
  dist::init_process_group(
      "gloo", {.world_size = 1, .rank = 0, .store = std::make_shared<dist::HashStore>()});
  for (int i = 0; i < 30; ++i) print_error_in_a_copy(have_a_group_of_its_own);
  return 0;
}
const Role copies_itself_often("copy_oneself_often", copy_oneself_often);

// The thread that looks after groups looks all the time here: it is gone in a copy, with what it
// holds just then.
TEST(Fork, ACopyWaitsForNoThreadOfItsProcess) {
  Process process("copy_oneself_often", {{"TAEDA_DISTRIBUTED_CHECK_MS", "1"}});
  for (int i = 0; i < 30; ++i) ASSERT_EQ(process.line(), "no error");
  EXPECT_EQ(process.wait(), 0);
}

int copy_a_store() {
  dist::TCPStore store("localhost", {.port = 0, .is_master = true});
  store.set("key", "value");
  print_error_in_a_copy([&] { store.get("key"); });
  print_error_in_a_copy([&] { dist::TCPStore("localhost", {.port = store.port()}); });
  auto file = std::make_unique<dist::FileStore>(variable("TAEDA_TEST_PATH"), 1);
  file->set("key", "value");
  print_error_in_a_copy([&] { file->add("n", 1); });
  print_error_in_a_copy([&] { file.reset(); });
  std::printf("%s %s\n", store.get("key").c_str(), file->get("key").c_str());
  return 0;
}
const Role copies_a_store("copy_a_store", copy_a_store);

TEST(Fork, AStoreBelongsToItsProcess) {
  if (const std::string why = dist::missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  const MeetingPlace place;
  Process process("copy_a_store", {{"TAEDA_TEST_PATH", place.path}});
  EXPECT_THAT(process.line(), HasSubstr("get: TCPStore(localhost:"));
  EXPECT_THAT(process.line(), HasSubstr("TCPStore: gRPC, once it was used, belongs to process"));
  EXPECT_THAT(process.line(), HasSubstr("add: FileStore('" + place.path + "') belongs to process"));
  EXPECT_EQ(process.line(), "no error");
  EXPECT_EQ(process.line(), "value value");
  EXPECT_EQ(process.wait(), 0);
}

}  // namespace
}  // namespace taeda
