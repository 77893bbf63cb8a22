#include "taeda/distributed/cluster/spawn.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include "taeda/distributed/group/collectives.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/cluster/processes.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"
#include "tests/variable.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Without a store: the tests that need none run where there is no gRPC, and under ThreadSanitizer.
const SpawnOptions kAlone = {.grace = std::chrono::milliseconds(500), .serve_store = false};

/// A process in the role of a test that calls spawn(). spawn() starts this program again with that
/// role, so it comes to the same call.
std::vector<std::string> lines_of(const std::string& role,
                                  std::map<std::string, std::string> environment = {}) {
  Process process(role, std::move(environment));
  std::vector<std::string> out;
  for (std::string line = process.line(); !line.empty(); line = process.line()) out.push_back(line);
  out.push_back("status " + std::to_string(process.wait().value_or(-1000)));
  return out;
}

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "none";
}

const Role two_calls("two_calls", [] {
  std::printf("begins\n");
  const pid_t parent = ::getpid();
  spawn(
      [](int rank, pid_t starter, const std::string& folder, const std::vector<double>& numbers) {
        std::ofstream(folder + "/first" + std::to_string(rank))
            << (starter == ::getppid()) << numbers.at(1) << variable("RANK")
            << variable("WORLD_SIZE") << variable("LOCAL_RANK") << variable("LOCAL_WORLD_SIZE");
      },
      std::tuple(parent, variable("TAEDA_TEST_FOLDER"), std::vector<double>{1, 2.5}), 2, kAlone);
  std::printf("between\n");
  std::fflush(stdout);
  spawn([](int rank) { std::printf("second %d\n", rank); }, 1, kAlone);
  std::printf("ends\n");
  return 0;
});

TEST(Spawn, RunsTheFunctionOfEachCallInProcesses) {
  const TemporaryFolder folder;
  EXPECT_THAT(lines_of("two_calls", {{"TAEDA_TEST_FOLDER", folder.path()}}),
              testing::ElementsAre("begins", "between", "second 0", "ends", "status 0"));
  EXPECT_EQ(contents(folder / "first0"), "12.50202");
  EXPECT_EQ(contents(folder / "first1"), "12.51212");
}

/// Waits long enough for whoever waits for it to be at fault.
void sleep_for_ever() { std::this_thread::sleep_for(std::chrono::minutes(5)); }

void fail_in_some_way(int rank) {
  if (rank == 0) sleep_for_ever();
  const std::string way = variable("TAEDA_TEST_WAY");
  if (way == "throw") throw ValueError("rank 1 has no data");
  if (way == "exit") std::exit(3);
  if (way == "no exception") throw 1;
  if (way == "nested") spawn([](int) {}, 1, kAlone);
  ::raise(way == "abort" ? SIGABRT : SIGKILL);
}

const Role failing("failing", [] {
  try {
    spawn(fail_in_some_way, 2, kAlone);
  } catch (const ProcessRaisedException& e) {
    std::printf("raised by %d %s\n", e.error_index(), e.what());
  } catch (const ProcessExitedException& e) {
    std::printf("exited %d with %d '%s' %s\n", e.error_index(), e.exit_code(),
                e.signal_name().c_str(), e.what());
  }
  return 0;
});

std::string said_of(const std::string& way) {
  std::string out;
  for (const std::string& line : lines_of("failing", {{"TAEDA_TEST_WAY", way}})) out += line + "\n";
  return out;
}

TEST(Spawn, ThrowsWhatTheFirstProcessToFailSays) {
  EXPECT_THAT(said_of("throw"),
              testing::MatchesRegex("raised by 1 spawn \\(.*spawn_test.cpp:[0-9]+\\): process 1 "
                                    "terminated with the following error:\nrank 1 has no "
                                    "data\nstatus 0\n"));
  EXPECT_THAT(said_of("no exception"), HasSubstr("an exception that is no std::exception"));
  EXPECT_THAT(said_of("nested"), HasSubstr(") was called by a function that spawn runs\n"));
}

TEST(Spawn, NamesTheSignalOrTheExitCode) {
  EXPECT_THAT(said_of("exit"), StartsWith("exited 1 with 3 '' spawn ("));
  EXPECT_THAT(said_of("exit"), HasSubstr("process 1 terminated with exit code 3\n"));
  EXPECT_THAT(said_of("kill"), StartsWith("exited 1 with -9 'SIGKILL' spawn ("));
  EXPECT_THAT(said_of("kill"), HasSubstr("process 1 terminated with signal SIGKILL\n"));
  EXPECT_THAT(said_of("abort"), HasSubstr("process 1 terminated with signal SIGABRT\n"));
}

const Role elsewhere("elsewhere", [] {
  // What a program does that does not come to its call again.
  if (std::getenv("TAEDA_SPAWNED") && variable("TAEDA_TEST_WAY") == "return") return 0;
  try {
    if (std::getenv("TAEDA_SPAWNED")) spawn([](int) {}, 1, kAlone);
    spawn([](int) {}, 1, kAlone);
  } catch (const Error& e) {
    std::printf("%s\n", e.what());
  }
  return 0;
});

TEST(Spawn, ProcessesThatDoNotComeToTheCallAreAnError) {
  EXPECT_THAT(lines_of("elsewhere", {{"TAEDA_TEST_WAY", "return"}})[0],
              HasSubstr("process 0 ended before it came to call #0 of spawn; main() must"));
  const auto lines = lines_of("elsewhere");
  EXPECT_THAT(lines[1], testing::MatchesRegex("its call of spawn #0 is at .*spawn_test.cpp:[0-9]+, "
                                              "but the one that started it is at .*"));
}

TEST(Spawn, NumberOfProcessesIsChecked) {
  EXPECT_THAT(error_of([] { spawn([](int) {}, 0); }),
              HasSubstr("nprocs must be positive, but got 0"));
}

const Role sleeping("sleeping", [] {
  spawn(
      [](int) {
        std::printf("%d\n", static_cast<int>(::getpid()));
        std::fflush(stdout);
        sleep_for_ever();
      },
      2, kAlone);
  return 0;
});

TEST(Spawn, ProcessesDieWithTheirParent) {
  Process process("sleeping");
  const pid_t first = std::stoi(process.line()), second = std::stoi(process.line());
  EXPECT_TRUE(runs(first) && runs(second));
  process.signal(SIGKILL);
  process.wait();
  EXPECT_THAT(still_running({first, second}), testing::ElementsAre());
}

const Role summing("summing", [] {
  spawn(
      [](int rank) {
        init_process_group("gloo");
        const Tensor sum = tensor({rank + 1});
        all_reduce(sum);
        std::printf("%s\n", sum.repr().c_str());
        destroy_process_group();
      },
      3);
  return 0;
});

TEST(Spawn, ServesAStoreToTheProcesses) {
  if (const std::string why = missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  EXPECT_THAT(lines_of("summing"),
              testing::ElementsAre("tensor([6])", "tensor([6])", "tensor([6])", "status 0"));
}

SpawnOptions not_joined() {
  SpawnOptions out = kAlone;
  out.join = false;
  return out;
}

/// A line of what calls said, for a test to read.
template <class F>
std::string error_kind_of(F&& f) {
  try {
    f();
  } catch (const ProcessRaisedException& e) {
    return "raised " + std::to_string(e.error_index());
  } catch (const ProcessExitedException& e) {
    return "exited " + std::to_string(e.error_index()) + " " + e.signal_name();
  }
  return "nothing";
}

const Role joining_later("joining_later", [] {
  const std::string folder = variable("TAEDA_TEST_FOLDER");
  ProcessContext context = spawn(
      [](int rank, const std::string& wanted) {
        while (!std::ifstream(wanted)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::printf("%d of two\n", rank);
      },
      std::tuple(folder + "/go"), 2, not_joined());
  std::printf("started %zu, runs %d\n", context.pids().size(), runs(context.pids().at(1)));
  std::printf("joined %d\n", context.join(std::chrono::milliseconds(30)));
  std::fflush(stdout);
  std::ofstream(folder + "/go") << "go";
  while (!context.join(std::chrono::seconds(1))) {
  }
  std::printf("joined again %d, runs %d\n", context.join(), runs(context.pids().at(1)));
  return 0;
});

TEST(SpawnContext, IsJoinedWhenItsTimeHasCome) {
  const TemporaryFolder folder;
  auto lines = lines_of("joining_later", {{"TAEDA_TEST_FOLDER", folder.path()}});
  ASSERT_EQ(lines.size(), 6u);
  std::sort(lines.begin() + 2, lines.begin() + 4);
  EXPECT_THAT(lines, testing::ElementsAre("started 2, runs 1", "joined 0", "0 of two", "1 of two",
                                          "joined again 1, runs 0", "status 0"));
}

const Role ending_early("ending_early", [] {
  const std::string way = variable("TAEDA_TEST_WAY");
  std::vector<int> ids;
  {
    ProcessContext first = spawn([](int) { sleep_for_ever(); }, 3, not_joined());
    ProcessContext context = std::move(first);
    ids = context.pids();
    if (way == "terminate") context.terminate(1);
    if (way == "check") std::printf("%s\n", error_of([&] { context.kill(3); }).c_str());
    if (way == "kill") context.kill();
    if (way == "kill" || way == "terminate")
      for (int i = 0; i < 2; ++i)
        std::printf("%s\n", error_kind_of([&] { context.join(); }).c_str());
  }
  std::printf("%zu are left\n", still_running({ids.begin(), ids.end()}).size());
  ProcessContext second = spawn(
      [](int rank) {
        if (rank == 1) throw ValueError("no");
      },
      2, not_joined());
  std::printf("%s\n", error_kind_of([&] { second.join(); }).c_str());
  return 0;
});

TEST(SpawnContext, EndsItsProcesses) {
  const auto ends = [](const std::string& way) {
    return lines_of("ending_early", {{"TAEDA_TEST_WAY", way}});
  };
  using testing::ElementsAre;
  EXPECT_THAT(ends("terminate"), ElementsAre("exited 1 SIGTERM", "exited 1 SIGTERM", "0 are left",
                                             "raised 1", "status 0"));
  EXPECT_THAT(ends("kill"), ElementsAre(StartsWith("exited"), testing::EndsWith("SIGKILL"),
                                        "0 are left", "raised 1", "status 0"));
  EXPECT_THAT(ends("check"),
              ElementsAre("ProcessContext.kill: there are 3 processes, but rank is 3", "0 are left",
                          "raised 1", "status 0"));
  EXPECT_THAT(ends("destroy"), ElementsAre("0 are left", "raised 1", "status 0"));
}

TEST(SpawnContext, WithoutProcessesHasNothingToDo) {
  ProcessContext none;
  EXPECT_TRUE(none.join());
  EXPECT_THAT(none.pids(), testing::ElementsAre());
  none.terminate(0);
}

TEST(Spawn, MultiprocessingIsAnotherNameForIt) {
  namespace mp = multiprocessing;
  EXPECT_THAT(error_of([] { mp::spawn([](int, int) {}, std::tuple(2), -1); }),
              HasSubstr("nprocs must be positive, but got -1"));
}

}  // namespace
}  // namespace taeda::distributed
