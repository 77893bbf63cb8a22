// What goes wrong between ranks becomes an error that names them, and never a wait for ever.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "taeda/distributed/group/flight_recorder.h"
#include "taeda/distributed/rendezvous.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/shape.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/distributed/group/ranks.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/own_port.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// Ranks compare sooner than by default, so that tests take less time.
const int sooner = ::setenv("TAEDA_DISTRIBUTED_CHECK_MS", "100", 0);

constexpr ReduceOp kSum = ReduceOp::SUM;

/// Long enough that nothing ends by it unless a test wants that.
ProcessGroup::Options with_timeout(milliseconds timeout = std::chrono::seconds(60)) {
  return {timeout};
}

TEST(Faults, AnotherCollectiveIsNamedOnBothSides) {
  const auto errors = errors_of_ranks(
      4,
      [](ProcessGroup& g) {
        const Tensor x = ones({64});
        g.barrier({});
        if (g.rank() == 2)
          g.all_reduce(x, kSum, {});
        else
          g.broadcast(x, 0, {});
        g.barrier({});
      },
      with_timeout());
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("the ranks called different things: "),
                                 HasSubstr("rank 2 called all_reduce #2 float32[64] (SUM) at "
                                           "faults_test.cpp:"),
                                 HasSubstr("called broadcast #2 float32[64], root rank 0 at"),
                                 AnyOf(HasSubstr("ranks 0, 1 and 3"), HasSubstr("rank 0"),
                                       HasSubstr("rank 1"), HasSubstr("rank 3")))));
}

/// What two ranks hear that differ in one thing.
void expect_named(const char* first, const char* second,
                  const std::function<void(ProcessGroup&)>& f) {
  EXPECT_THAT(errors_of_ranks(2, f, with_timeout()),
              Each(AllOf(HasSubstr("rank 0 called " + std::string(first)),
                         HasSubstr("rank 1 called " + std::string(second)))));
}

TEST(Faults, OtherShapesDtypesReductionsAndRootsAreNamed) {
  expect_named("all_reduce #1 float32[3, 2]", "all_reduce #1 float32[2, 3]", [](ProcessGroup& g) {
    g.all_reduce(g.rank() == 0 ? ones({3, 2}) : ones({2, 3}), kSum, {});
  });
  expect_named("all_reduce #1 float32[4]", "all_reduce #1 int32[4]", [](ProcessGroup& g) {
    g.all_reduce(ones({4}, g.rank() == 0 ? kFloat : kInt), kSum, {});
  });
  expect_named(
      "all_reduce #1 float32[4] (SUM)", "all_reduce #1 float32[4] (MAX)",
      [](ProcessGroup& g) { g.all_reduce(ones({4}), g.rank() == 0 ? kSum : ReduceOp::MAX, {}); });
  expect_named("broadcast #1 float32[4], root rank 0", "broadcast #1 float32[4], root rank 1",
               [](ProcessGroup& g) {
                 g.broadcast(ones({4}), g.rank(), {});
                 g.barrier({});
               });
  expect_named("barrier #1", "all_reduce #1 float32[0]", [](ProcessGroup& g) {
    if (g.rank() == 0)
      g.barrier({});
    else
      g.all_reduce(ones({0}), kSum, {});
  });
}

/// Two lengths of float32 whose all_reduce, as a group's first operation, has a number of the same
/// last 32 bits: what Gloo has room for in a tag.
std::pair<int64_t, int64_t> lengths_with_the_same_tag() {
  std::unordered_map<uint32_t, int64_t> seen;
  distributed::Fingerprint what;
  what.op = "all_reduce";
  what.sequence = 1;
  what.dtype = kFloat;
  what.reduce = ReduceOp::SUM;
  for (int64_t n = 1;; ++n) {
    what.shape = SmallVector<int64_t, 4>({n});
    const auto [other, added] = seen.try_emplace(static_cast<uint32_t>(what.call_id()), n);
    if (!added) return {other->second, n};
  }
}

TEST(Faults, CallsThatShareATagAreToldApart) {
  const auto [first, second] = lengths_with_the_same_tag();
  const std::string named = "all_reduce #1 float32[";
  expect_named((named + std::to_string(first)).c_str(), (named + std::to_string(second)).c_str(),
               [first = first, second = second](ProcessGroup& g) {
                 g.all_reduce(ones({g.rank() == 0 ? first : second}), kSum, {});
               });
}

TEST(Faults, AMessageThatDoesNotFitItsReceiveIsNamed) {
  expect_named("send #1 float32[4] to rank 1, tag 5", "recv #1 float32[8] from rank 0, tag 5",
               [](ProcessGroup& g) {
                 if (g.rank() == 0)
                   g.send(ones({4}), 1, 5, {});
                 else
                   g.recv(ones({8}), 0, 5, {});
               });
}

TEST(Faults, SplitsThatDoNotFitAreAnErrorOnEveryRankAndTheGroupGoesOn) {
  run_ranks(3, [](ProcessGroup& g) {
    const std::vector<int64_t> in(3, 2), out = {2, g.rank() == 1 ? 3 : 2, 2};
    const int64_t rows = g.rank() == 1 ? 7 : 6;
    EXPECT_THAT(error_of([&] {
                  g.all_to_all_single(ones({rows, 2}), ones({6, 2}), out, in, {});
                }),
                HasSubstr("rank 1 sends 4 elements to rank 1, which expects 6"));
    const Tensor x = ones({2});
    g.all_reduce(x, kSum, {});
    EXPECT_TRUE(x.equal(full({2}, 3.0)));
  });
}

TEST(Faults, ARankThatDoesNotComeIsNamedAtTheTimeout) {
  const auto errors = errors_of_ranks(
      3,
      [](ProcessGroup& g) {
        g.barrier({});
        if (g.rank() == 1) {
          while (g.failure().empty()) std::this_thread::sleep_for(milliseconds(5));
          return;
        }
        g.set_timeout(milliseconds(700));
        g.all_reduce(ones({8}), kSum, {});
      },
      with_timeout());
  for (const int rank : {0, 2})
    EXPECT_THAT(errors[static_cast<size_t>(rank)],
                AllOf(HasSubstr("all_reduce #2 float32[8] (SUM)"),
                      HasSubstr("did not end within the timeout of 700 ms"),
                      HasSubstr("rank 1 has not called it, the last it called was barrier #1")));
}

TEST(Faults, ATimeoutIsAtLeastAMillisecond) {
  run_ranks(1, [](ProcessGroup& g) {
    g.set_timeout(std::chrono::seconds(3));
    EXPECT_EQ(g.timeout(), std::chrono::seconds(3));
    EXPECT_THAT(error_of([&] { g.set_timeout(milliseconds(0)); }),
                HasSubstr("set_timeout: the timeout of the process group 'world' must be at least "
                          "a millisecond, got 0 ms"));
    EXPECT_EQ(g.timeout(), std::chrono::seconds(3));
  });
}

TEST(Faults, ARankThatLeftIsNamed) {
  const auto errors = errors_of_ranks(
      3,
      [](ProcessGroup& g) {
        g.barrier({});
        if (g.rank() == 2) return g.leave();
        g.all_reduce(ones({8}), kSum, {});
      },
      with_timeout());
  for (const int rank : {0, 1})
    EXPECT_THAT(errors[static_cast<size_t>(rank)],
                HasSubstr("rank 2 has left the group; the last it called was barrier #1"));
}

TEST(Faults, AfterAnErrorTheGroupRefusesWithItsReason) {
  const auto errors = errors_of_ranks(
      2,
      [](ProcessGroup& g) {
        const auto work = g.all_reduce(ones({g.rank() + 1}), kSum, {true});
        EXPECT_THAT(error_of([&] { work->wait(); }), HasSubstr("called different things"));
        EXPECT_TRUE(work->is_completed());
        EXPECT_FALSE(work->is_success());
        EXPECT_TRUE(work->exception());
        g.barrier({});
      },
      with_timeout());
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("barrier: the process group 'world' can no longer be "
                                           "used"),
                                 HasSubstr("called different things"))));
}

TEST(Faults, TheMonitoredBarrierNamesWhoIsMissing) {
  const auto errors = errors_of_ranks(
      4,
      [](ProcessGroup& g) {
        if (g.rank() == 1 || g.rank() == 3) return;
        g.monitored_barrier(milliseconds(100), true, SourceLocation::current());
      },
      with_timeout());
  EXPECT_EQ(errors[0], "[Rank 0]: ranks 1 and 3 failed to pass monitoredBarrier in 100 ms");
  EXPECT_THAT(errors[2], HasSubstr("Rank 2 successfully reached monitoredBarrier, but"));
  run_ranks(3, [](ProcessGroup& g) {
    g.monitored_barrier(std::chrono::seconds(20), false, SourceLocation::current());
  });
}

/// The error of each of some threads that join with their own rank and size.
std::vector<std::string> join(const std::vector<std::pair<int, int>>& ranks_and_sizes) {
  const auto store = std::make_shared<distributed::HashStore>();
  std::vector<std::string> errors(ranks_and_sizes.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < errors.size(); ++i)
    threads.emplace_back([&, i] {
      errors[i] = error_of([&] {
        const auto [rank, size] = ranks_and_sizes[i];
        ProcessGroup::create("gloo", store, rank, size, with_timeout());
      });
    });
  for (std::thread& t : threads) t.join();
  return errors;
}

TEST(Faults, AnotherWorldSizeIsRefusedEverywhere) {
  EXPECT_THAT(join({{0, 3}, {1, 3}, {2, 4}}),
              Each(AllOf(HasSubstr("has a world size of "), HasSubstr(", others have one of "))));
}

TEST(Faults, TheSameRankTwiceIsRefusedEverywhere) {
  EXPECT_THAT(join({{0, 3}, {1, 3}, {1, 3}}),
              Each(HasSubstr("rank 1 of group 'world' has joined twice")));
}

TEST(Faults, ARankThatNeverJoinsIsNamed) {
  const auto store = std::make_shared<distributed::HashStore>();
  EXPECT_EQ(
      error_of([&] { ProcessGroup::create("gloo", store, 0, 2, with_timeout(milliseconds(100))); }),
      "rank 1 of group 'world' did not come within the timeout of 100 ms");
}

// Real processes.

/// One call of the operation with that name, asynchronous.
distributed::WorkPtr call(ProcessGroup& g, const std::string& op, int64_t n) {
  const Tensor x = ones({n}), all = ones({n * g.size()});
  const ProcessGroup::CallOptions async{true};
  if (op == "all_reduce") return g.all_reduce(x, kSum, async);
  if (op == "broadcast") return g.broadcast(x, 0, async);
  if (op == "reduce") return g.reduce(x, 0, kSum, async);
  if (op == "all_gather") return g.all_gather_into_tensor(all, x, async);
  if (op == "reduce_scatter") return g.reduce_scatter_tensor(x, all, kSum, async);
  if (op == "all_to_all") return g.all_to_all_single(all, ones_like(all), {}, {}, async);
  if (op == "barrier") return g.barrier(async);
  throw Error("no operation " + op);
}

/// Calls an operation until it fails, or dies in the fifth call.
int run_until_error() {
  const auto group =
      ProcessGroup::create("gloo", common_store(), own_rank(), world_size(), with_timeout());
  const std::string op = variable("TAEDA_TEST_OP");
  const bool dies = own_rank() == std::stoi(variable("TAEDA_TEST_VICTIM"));
  for (int i = 0; i < 1000; ++i) {
    const std::string error = error_of([&] {
      const auto work = call(*group, op, std::stoll(variable("TAEDA_TEST_COUNT")));
      if (dies && i == 4) ::raise(SIGKILL);
      work->wait();
    });
    if (error == "no error") continue;
    std::printf("%s\n", error.c_str());
    return 0;
  }
  return 2;
}
const Role until_error("run_until_error", run_until_error);

struct Death {
  const char* op;
  int64_t count;
};

class ARankDies : public testing::TestWithParam<Death> {};
INSTANTIATE_TEST_SUITE_P(, ARankDies,
                         testing::Values(Death{"all_reduce", 16}, Death{"all_reduce", 1 << 20},
                                         Death{"broadcast", 16}, Death{"reduce", 1 << 20},
                                         Death{"all_gather", 16}, Death{"reduce_scatter", 1 << 18},
                                         Death{"all_to_all", 1 << 18}, Death{"barrier", 0}),
                         [](const auto& info) {
                           return std::string(info.param.op) + "_of_" +
                                  std::to_string(info.param.count);
                         });

TEST_P(ARankDies, TheOthersSayWhoAndWhere) {
  const MeetingPlace place;
  const int victim = 1;
  const auto ranks = start_ranks("run_until_error", 3, place,
                                 {{"TAEDA_TEST_VICTIM", std::to_string(victim)},
                                  {"TAEDA_TEST_COUNT", std::to_string(GetParam().count)},
                                  {"TAEDA_TEST_OP", GetParam().op}});
  EXPECT_EQ(ranks[victim]->wait(), -SIGKILL);
  for (const int rank : {0, 2}) {
    EXPECT_THAT(
        ranks[rank]->line(milliseconds(10000)),
        AllOf(AnyOf(HasSubstr("rank " + std::to_string(rank) + " of group 'world', in " +
                              GetParam().op),
                    HasSubstr("the process group 'world' can no longer be used")),  // heard between
              HasSubstr("rank 1 is gone: rank "), HasSubstr("lost the connection to it")));
    EXPECT_EQ(ranks[rank]->wait(), 0);
  }
}

/// Rank 1 calls another collective. Every rank ends with its error, rank 0 and the store with it.
int differ_and_end() {
  const auto [store, rank, size] = distributed::rendezvous("env://");
  const auto group = ProcessGroup::create("gloo", store, rank, size, with_timeout());
  group->barrier({});
  std::printf("%s\n", error_of([&, rank = rank] {
                        if (rank == 1)
                          group->broadcast(ones({2}), 0, {});
                        else
                          group->all_reduce(ones({4}), kSum, {});
                      }).c_str());
  std::fflush(stdout);
  std::_Exit(0);
}
const Role differs_and_ends("differ_and_end", differ_and_end);

TEST(Faults, EveryRankHearsWhyBeforeTheStoreEnds) {
  const std::string missing = distributed::missing_grpc();
  if (!missing.empty()) GTEST_SKIP() << missing;
  for (int round = 0; round < 3; ++round) {
    const MeetingPlace place;
    const auto ranks =
        start_ranks("differ_and_end", 4, place,
                    {{"MASTER_ADDR", "localhost"}, {"MASTER_PORT", std::to_string(own_port())}});
    for (const auto& rank : ranks) {
      EXPECT_THAT(rank->line(), AllOf(HasSubstr("rank 1 called broadcast #2"),
                                      HasSubstr("called all_reduce #2 float32[4]")));
      EXPECT_EQ(rank->wait(), 0);
    }
  }
}

// The record of what was called.

TEST(FlightRecord, KeepsTheLastOperations) {
  run_ranks(2,
            [](ProcessGroup& g) {
              g.all_reduce(ones({2, 3}), ReduceOp::MAX, {});
              g.barrier({});
            },
            {std::chrono::seconds(20), "recorded"});
  const std::string text = distributed::flight_record();
  EXPECT_THAT(text, HasSubstr("\"group\":\"recorded\",\"rank\":1,\"state\":\"done\""));
  EXPECT_THAT(text, HasSubstr("\"op\":\"all_reduce\",\"sequence\":1,\"shape\":[2,3],"
                              "\"dtype\":\"float32\",\"reduce\":\"MAX\",\"file\":"));
}

int wait_for_the_other() {
  const auto group =
      ProcessGroup::create("gloo", common_store(), own_rank(), world_size(), with_timeout());
  group->barrier({});
  const auto work = group->recv(ones({4}), 1 - own_rank(), 0, {true});
  std::printf("ready\n");
  work->wait();
  return 0;
}
const Role waits_for_the_other("wait_for_the_other", wait_for_the_other);

TEST(FlightRecord, IsWrittenOnSigtermAndWhenTheGroupFails) {
  const MeetingPlace place;
  const std::string prefix = place.path + "_flight_";
  const auto ranks =
      start_ranks("wait_for_the_other", 2, place, {{"TAEDA_FLIGHT_RECORDER", prefix}});
  for (const auto& rank : ranks) EXPECT_EQ(rank->line(), "ready");
  ranks[0]->signal(SIGTERM);
  EXPECT_EQ(ranks[0]->wait(), -SIGTERM);
  EXPECT_EQ(ranks[1]->wait(), 1);  // what it waited for is gone
  for (const char* rank : {"0", "1"}) {
    const std::string path = prefix + rank + ".json";
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    EXPECT_THAT(text.str(), HasSubstr("\"op\":\"irecv\",\"sequence\":1,\"shape\":[4]")) << path;
    std::filesystem::remove(path);
  }
}

TEST(FlightRecord, IsNotWrittenWhereAnothersLinkLeads) {
  const MeetingPlace place;
  const std::string path = place.path + "_record.json", other = place.path + "_other";
  std::ofstream(other) << "of somebody else";
  std::filesystem::create_symlink(other, path);
  distributed::write_flight_record(path);
  std::stringstream text;
  text << std::ifstream(other).rdbuf();
  EXPECT_EQ(text.str(), "of somebody else");
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_GT(std::filesystem::file_size(path), 0u);
  std::filesystem::remove(path);
  std::filesystem::remove(other);
}

TEST(FlightRecord, KeepsNoMoreThanItHasRoomFor) {
  auto& recorder = distributed::FlightRecorder::instance();
  const uint32_t group = recorder.add_group("full", 0);
  distributed::Fingerprint what;
  what.op = "barrier";
  for (size_t i = 0; i < distributed::FlightRecorder::kEntries + 10; ++i) {
    what.sequence = i;
    recorder.end(recorder.begin(group, what), false);
  }
  const auto all = recorder.last(group, 1 << 20);
  ASSERT_EQ(all.size(), distributed::FlightRecorder::kEntries);
  EXPECT_EQ(all.front().what.sequence, 10u);
  EXPECT_EQ(recorder.last(group, 3).back().what.sequence, all.back().what.sequence);
}

}  // namespace
}  // namespace taeda
