// What asynchronous operations do where the system has no more threads.

#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using testing::HasSubstr;

/// For a scope, no thread can be made: none has the address space for the stack that it would get.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t vast;
    ::pthread_attr_init(&vast);
    ::pthread_attr_setstacksize(&vast, size_t{1} << 46);
    ::pthread_setattr_default_np(&vast);
    ::pthread_attr_destroy(&vast);
  }
  ~NoThreads() { ::pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

/// Rank 1 begins a receive without threads, and later the same one with them; rank 0 sends once.
int receive_without_threads() {
  const auto group = ProcessGroup::create("gloo", common_store(), own_rank(), world_size(),
                                          {std::chrono::seconds(60)});
  const Tensor x = own_rank() == 0 ? ones({3}) : zeros({3});
  if (own_rank() == 1) {
    {
      const NoThreads none;
      std::printf("%s\n", error_of([&] { group->recv(x, 0, 7, {true}); }).c_str());
      std::printf("%s\n", error_of([&] { group->all_reduce(x, {}, {true}); }).c_str());
    }
    const auto work = group->recv(x, 0, 7, {true});
    group->barrier({});
    work->wait();
    std::printf("%s\n", work->what().to_string().substr(0, 8).c_str());
  } else {
    group->barrier({});
    group->send(x, 1, 7, {});
  }
  group->barrier({});
  group->leave();
  std::printf("%g\n", x.data_ptr<float>()[0]);
  return 0;
}
const Role receives_without_threads("receive_without_threads", receive_without_threads);

TEST(WithoutThreads, ACallThatFailedDidNotHappen) {
  const MeetingPlace place;
  const auto ranks = start_ranks("receive_without_threads", 2, place);
  EXPECT_THAT(ranks[1]->line(), HasSubstr("irecv: the system has no thread for it"));
  EXPECT_THAT(ranks[1]->line(), HasSubstr("all_reduce: the system has no thread for it"));
  EXPECT_EQ(ranks[1]->line(), "irecv #1");
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->line(), "1");
    EXPECT_EQ(rank->wait(), 0);
  }
}

int open_a_store_without_room() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t used = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  rlimit limit;
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = used + (rlim_t{std::stoul(variable("TAEDA_TEST_ROOM"))} << 20);
  ::setrlimit(RLIMIT_AS, &limit);
  std::printf("%s\n", error_of([] {
                        distributed::TCPStore("localhost", {.port = 0, .is_master = true});
                      }).c_str());
  return 0;
}
const Role opens_a_store_without_room("open_a_store_without_room", open_a_store_without_room);

TEST(WithoutThreads, AStoreSaysThatThereIsNoAddressSpace) {
  if (const std::string why = distributed::missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  for (const char* mebibytes : {"32", "74", "260"}) {
    Process process("open_a_store_without_room", {{"TAEDA_TEST_ROOM", mebibytes}});
    EXPECT_THAT(process.line(),
                HasSubstr("TCPStore: gRPC's threads need 320 MiB of address space"));
    EXPECT_EQ(process.wait(), 0) << mebibytes;
  }
}

}  // namespace
}  // namespace taeda
