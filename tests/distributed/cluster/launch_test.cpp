#include "taeda/distributed/cluster/launch.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>

#include "taeda/base/error.h"
#include "taeda/distributed/cluster/progress.h"
#include "taeda/distributed/group/collectives.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/cluster/processes.h"
#include "tests/distributed/cluster/relay.h"
#include "tests/distributed/process.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/own_port.h"
#include "tests/variable.h"

namespace taeda::distributed::cluster {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::UnorderedElementsAre;

/// What a launcher showed.
struct Shown {
  int code = -1;
  std::vector<std::string> out, error;
  std::string what;  ///< it threw
};

LaunchOptions shell(const std::string& script, int64_t processes) {
  LaunchOptions options;
  options.command = {"sh", "-c", script};
  options.agents.processes = processes;
  options.agents.job = "test";
  options.agents.name = "here";
  options.shutdown_timeout = std::chrono::seconds(5);
  return options;
}

Shown run(LaunchOptions options) {
  Shown shown;
  options.show = [&shown](bool error, std::string_view line) {
    (error ? shown.error : shown.out).emplace_back(line);
  };
  try {
    shown.code = launch(options);
  } catch (const Error& e) {
    shown.what = e.what();
  }
  return shown;
}

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing_grpc(); !why.empty()) GTEST_SKIP() << why;
  }
  TemporaryFolder folder_;
};

TEST_F(Launch, ProcessesHaveTorchrunsVariables) {
  const Shown shown = run(
      shell("echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $GROUP_WORLD_SIZE "
            "$ROLE_RANK $ROLE_WORLD_SIZE $ROLE_NAME $MASTER_ADDR $TORCHELASTIC_RUN_ID "
            "$TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS; test $MASTER_PORT -gt 0",
            2));
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out,
              UnorderedElementsAre("[rank 0] 0 0 2 2 0 1 0 2 default 127.0.0.1 test 0 0",
                                   "[rank 1] 1 1 2 2 0 1 1 2 default 127.0.0.1 test 0 0"));
  EXPECT_THAT(shown.error, ElementsAre());
}

TEST_F(Launch, ProcessesAskTheLaunchersStoreAndHaveASecret) {
  const Shown shown = run(shell("cat /dev/fd/$TAEDA_DISTRIBUTED_SECRET_FD", 2));
  ASSERT_EQ(shown.out.size(), 2u);
  EXPECT_THAT(shown.out[0].substr(9), MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(shown.out[0].substr(9), shown.out[1].substr(9));
}

TEST_F(Launch, OneProcessPrintsAsItWouldAlone) {
  EXPECT_THAT(run(shell("echo all; echo well >&2", 1)).out, ElementsAre("all"));
  EXPECT_THAT(run(shell("printf 'no end'", 1)).out, ElementsAre("no end"));
}

TEST_F(Launch, TheFirstToFailIsNamedLastAndTheOthersEnd) {
  const Shown killed =
      run(shell("if [ $RANK = 1 ]; then echo 'out of luck' >&2; kill -SEGV $$; fi; sleep 300", 3));
  EXPECT_EQ(killed.code, 128 + SIGSEGV);
  ASSERT_EQ(killed.error.size(), 4u);
  EXPECT_EQ(killed.error[0], "[rank 1] out of luck");
  EXPECT_EQ(killed.error[1], "taeda: what the process that failed first wrote last:");
  EXPECT_EQ(killed.error[2], "out of luck");
  EXPECT_THAT(killed.error[3],
              MatchesRegex("taeda: rank 1 \\(local rank 1 on here, process [0-9]+\\) was ended by "
                           "SIGSEGV \\(Segmentation fault\\)"));
  const Shown ended = run(shell("test $RANK = 0 || sleep 300; exit 7", 2));
  EXPECT_EQ(ended.code, 7);
  EXPECT_THAT(ended.error.back(), HasSubstr("rank 0 (local rank 0 on here"));
  EXPECT_THAT(ended.error.back(), HasSubstr("exited with status 7"));
}

TEST_F(Launch, WhoDoesNotEndWhenToldIsKilled) {
  LaunchOptions options =
      shell("trap '' TERM; if [ $RANK = 0 ]; then until [ -e " + (folder_ / "deaf") +
                " ]; do sleep 0.01; done; exit 1; fi; touch " + (folder_ / "deaf") +
                "; while :; do sleep 0.1; done",
            2);
  options.shutdown_timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(run(options).code, 1);
}

TEST_F(Launch, StartsAllAgainAsOftenAsTold) {
  LaunchOptions options = shell(
      "echo $RANK.$TORCHELASTIC_RESTART_COUNT; "
      "test $RANK = 1 -a $TORCHELASTIC_RESTART_COUNT -lt 2 && exit 4; "
      "test $TORCHELASTIC_RESTART_COUNT = 2 || sleep 300",
      2);
  options.max_restarts = 2;
  const Shown enough = run(options);
  EXPECT_EQ(enough.code, 0);
  EXPECT_THAT(enough.out,
              AllOf(Contains("[rank 0] 0.2"), Contains("[rank 1] 1.2"), Contains("[rank 1] 1.1")));
  EXPECT_THAT(enough.error, Contains("taeda: starting again (restart 2 of 2)"));
  options.max_restarts = 1;
  const Shown too_few = run(options);
  EXPECT_EQ(too_few.code, 4);
  EXPECT_THAT(too_few.error.back(), HasSubstr("exited with status 4; restarts before: 1"));
}

TEST_F(Launch, PutsBeforeLinesWhatTheTemplateSays) {
  LaunchOptions options = shell("echo out; echo error >&2", 2);
  options.role = "trainer";
  options.line_prefix = "${role_name}${local_rank}/${rank} on ${hostname}, ${other}: ";
  options.prefixed = OutputChoice::parse("0:3,1:2");
  options.agents.name = "a ${rank}";
  const Shown shown = run(options);
  EXPECT_THAT(shown.out, UnorderedElementsAre("trainer0/0 on a ${rank}, ${other}: out", "out"));
  EXPECT_THAT(shown.error, UnorderedElementsAre("trainer0/0 on a ${rank}, ${other}: error",
                                                "trainer1/1 on a ${rank}, ${other}: error"));
}

TEST_F(Launch, LogsByRank) {
  LaunchOptions options = shell("echo out$RANK; echo err$RANK >&2", 2);
  options.log_folder = folder_.path();
  options.tee = OutputChoice::parse("1");
  options.redirects = OutputChoice::parse("0:2,1:3");
  const Shown shown = run(options);
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, UnorderedElementsAre("[rank 0] out0", "[rank 1] out1"));
  EXPECT_THAT(shown.error, ElementsAre());
  EXPECT_EQ(contents(folder_ / "test/attempt_0/0/stdout.log"), "out0\n");
  EXPECT_EQ(contents(folder_ / "test/attempt_0/1/stdout.log"), "out1\n");
  EXPECT_EQ(contents(folder_ / "test/attempt_0/1/stderr.log"), "err1\n");
}

TEST_F(Launch, WhatCannotBeDoneIsAnError) {
  LaunchOptions options = shell("", 1);
  options.command = {"/no/such/program"};
  EXPECT_EQ(run(options).what, "cannot start '/no/such/program' (No such file or directory)");
  options = shell("true", 1);
  options.log_folder = "/dev/null/logs";
  options.tee = OutputChoice::parse("3");
  EXPECT_THAT(run(options).what,
              HasSubstr("the log '/dev/null/logs/test/attempt_0/0/stdout.log' cannot be written"));
}

TEST(OutputChoice, IsReadAsTorchrunDoes) {
  EXPECT_THAT(OutputChoice::parse("2").of(5), ElementsAre(false, true));
  EXPECT_THAT(OutputChoice::parse("0:1,12:3").of(12), ElementsAre(true, true));
  EXPECT_THAT(OutputChoice::parse("0:1,12:3").of(1), ElementsAre(false, false));
  for (const char* text : {"4", "x", "0:4", ":1", "0:", "a:1", "0:12"})
    EXPECT_THAT(error_of([&] { OutputChoice::parse(text); }), HasSubstr("outputs must be 0 (none)"))
        << text;
}

/// A launcher in a process of its own, whose processes print their ids and sleep.
const Role launcher("launcher", [] {
  LaunchOptions options = shell("sleep 301 & echo $! >&2; echo $$ >&2; wait", 2);
  options.show = [](bool, std::string_view line) {
    std::printf("%s\n", std::string(line.substr(9)).c_str());
  };
  return launch(options);
});

std::vector<pid_t> ids_of(Process& process, int count) {
  std::vector<pid_t> out;
  for (int i = 0; i < count; ++i) out.push_back(std::stoi(process.line()));
  return out;
}

TEST_F(Launch, ProcessesAndTheirProcessesDieWithTheLauncher) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    Process process("launcher");
    const std::vector<pid_t> ids = ids_of(process, 4);
    for (const pid_t id : ids) EXPECT_TRUE(runs(id));
    process.signal(signal);
    EXPECT_EQ(process.wait(), signal == SIGKILL ? -SIGKILL : 128 + signal);
    EXPECT_THAT(still_running(ids), ElementsAre()) << signal;
  }
}

const Role reducing("reducing", [] {
  init_process_group("gloo");
  const Tensor sum = tensor({get_rank() + 1});
  all_reduce(sum);
  std::printf("%s", ("rank " + std::to_string(get_rank()) + " " + sum.repr() + "\n").c_str());
  destroy_process_group();
  return 0;
});

LaunchOptions this_program(const std::string& role, int64_t processes) {
  LaunchOptions options = shell("", processes);
  options.command = {"/proc/self/exe"};
  options.environment["TAEDA_TEST_ROLE"] = role;
  return options;
}

/// Stops its launcher while it reports more than a pipe holds.
const Role much("reporting much", [] {
  ::kill(::getppid(), SIGSTOP);
  for (int step = 1; step <= 20'000; ++step) report_progress(step, step);
  ::kill(::getppid(), SIGCONT);
  std::printf("did not wait\n");
  return 0;
});

TEST_F(Launch, ProcessesFindEachOther) {
  const Shown shown = run(this_program("reducing", 3));
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out,
              UnorderedElementsAre("[rank 0] rank 0 tensor([6])", "[rank 1] rank 1 tensor([6])",
                                   "[rank 2] rank 2 tensor([6])"));
}

/// One of several launchers: what the test sets, the rest as in `shell`.
const Role machine("machine", [] {
  LaunchOptions options = shell(std::getenv("TAEDA_TEST_SCRIPT"), 1);
  const auto number = [](const char* name) { return std::stoi(std::getenv(name)); };
  options.agents.processes = number("TAEDA_TEST_PROCESSES");
  options.agents.port = static_cast<uint16_t>(number("TAEDA_TEST_PORT"));
  options.agents.min_nodes = number("TAEDA_TEST_MIN");
  options.agents.max_nodes = number("TAEDA_TEST_MAX");
  options.agents.name = std::getenv("TAEDA_TEST_NAME");
  options.agents.join_timeout = std::chrono::milliseconds(number("TAEDA_TEST_JOIN_MS"));
  options.agents.last_call = std::chrono::milliseconds(1000);
  options.agents.keep_alive = std::chrono::milliseconds(number("TAEDA_TEST_KEEP_ALIVE_MS"));
  options.max_restarts = number("TAEDA_TEST_RESTARTS");
  if (const char* patience = std::getenv("TAEDA_TEST_PATIENCE_MS"))
    options.agents.patience = std::chrono::milliseconds(std::stoi(patience));
  if (const char* rank = std::getenv("TAEDA_TEST_NODE_RANK"))
    options.agents.node_rank = std::stoi(rank);
  options.show = [](bool, std::string_view line) {
    std::printf("%s\n", std::string(line).c_str());
  };
  return launch(options);
});

/// Launchers that meet on this machine.
class LaunchOnMachines : public Launch {
 protected:
  using Settings = std::map<std::string, std::string>;

  std::unique_ptr<Process> machine(const std::string& script, int processes, Settings more = {}) {
    Settings all{{"TAEDA_TEST_SCRIPT", script},
                 {"TAEDA_TEST_PROCESSES", std::to_string(processes)},
                 {"TAEDA_TEST_PORT", port_},
                 {"TAEDA_TEST_MIN", "2"},
                 {"TAEDA_TEST_MAX", "2"},
                 {"TAEDA_TEST_JOIN_MS", "15000"},
                 {"TAEDA_TEST_KEEP_ALIVE_MS", "15000"},
                 {"TAEDA_TEST_NAME", "m" + std::to_string(++count_)},
                 {"TAEDA_TEST_RESTARTS", "0"}};
    more.merge(all);
    return std::make_unique<Process>("machine", more);
  }
  /// One machine that serves the others, has joined, and says again and again that it waits.
  std::unique_ptr<Process> waiting_machine(const std::string& script, Settings more) {
    more["TAEDA_TEST_PATIENCE_MS"] = "100";
    auto out = machine(script, 1, std::move(more));
    EXPECT_THAT(out->line(), AllOf(HasSubstr("waiting for machines"), HasSubstr(": 1 of ")));
    return out;
  }
  static std::string without_reminders(Process& process) {
    std::string line = process.line();
    while (line.starts_with("taeda: waiting for machines")) line = process.line();
    return line;
  }
  static std::vector<std::string> all_of(Process& process) {
    std::vector<std::string> out;
    for (std::string line = process.line(); !line.empty(); line = process.line())
      out.push_back(line);
    return out;
  }

 private:
  const std::string port_ = std::to_string(own_port());
  int count_ = 0;

 protected:
  const std::string& port() const { return port_; }
};

TEST_F(LaunchOnMachines, CountTheirRanksTogether) {
  const std::string script = "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK";
  const auto second = machine(script, 1, {{"TAEDA_TEST_NODE_RANK", "1"}});
  const auto first = machine(script, 2, {{"TAEDA_TEST_NODE_RANK", "0"}});
  EXPECT_THAT(all_of(*first), UnorderedElementsAre("[rank 0] 0/3 0/2 0", "[rank 1] 1/3 1/2 0"));
  EXPECT_THAT(
      all_of(*second),
      ElementsAre("taeda: this machine has --nproc-per-node 1 and machine m2 (node rank 0) 2",
                  "[rank 2] 2/3 0/1 1"));
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
}

TEST_F(LaunchOnMachines, RanksOfAllMeetInOneGroup) {
  const std::string script =
      "TAEDA_TEST_ROLE=reducing exec /proc/" + std::to_string(::getpid()) + "/exe";
  const auto first = machine(script, 1), second = machine(script, 2);
  const auto a = all_of(*first), b = all_of(*second);
  EXPECT_EQ(a.size() + b.size(), 4u);
  for (const auto* lines : {&a, &b})
    for (const std::string& line : *lines)
      EXPECT_THAT(line, testing::AnyOf(HasSubstr("tensor([6])"), HasSubstr("--nproc-per-node")));
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
}

TEST_F(LaunchOnMachines, StartAgainTogetherAndAllSayWhoFailed) {
  // Rank 1 fails when the other has said its number: a launcher ends its processes at once.
  const std::string script =
      "echo $TORCHELASTIC_RESTART_COUNT; said=" + (folder_ / "said") +
      "$TORCHELASTIC_RESTART_COUNT; if [ $RANK = 1 ]; then until [ -e $said ]; do sleep 0.01; "
      "done; exit 5; fi; touch $said; sleep 300";
  const Settings more = {{"TAEDA_TEST_RESTARTS", "1"}};
  const auto first = machine(script, 1, more), second = machine(script, 1, more);
  const auto a = all_of(*first), b = all_of(*second);
  for (const auto* lines : {&a, &b}) {
    EXPECT_THAT(*lines, Contains(HasSubstr("] 1")));
    EXPECT_THAT(lines->back(), HasSubstr("exited with status 5; restarts before: 1"));
  }
  EXPECT_NE(first->wait(), 0);
  EXPECT_NE(second->wait(), 0);
}

TEST_F(LaunchOnMachines, ThatDoNotComeAreMissed) {
  const auto first = machine("true", 1, {{"TAEDA_TEST_JOIN_MS", "1000"}});
  EXPECT_THAT(all_of(*first),
              ElementsAre(MatchesRegex(
                  "job 'test': 1 of at least 2 machines came to 127.0.0.1:[0-9]+ within 1 s")));
}

TEST_F(LaunchOnMachines, SayWhomTheyWaitFor) {
  const auto alone = [&](const char* place) {
    return machine("true", 1,
                   {{"TAEDA_TEST_PATIENCE_MS", "100"},
                    {"TAEDA_TEST_MIN", "3"},
                    {"TAEDA_TEST_MAX", "3"},
                    {"TAEDA_TEST_NODE_RANK", place}});
  };
  EXPECT_EQ(alone("1")->line(),
            "taeda: waiting for the launcher that serves job 'test' at 127.0.0.1:" + port());
  EXPECT_EQ(alone("0")->line(), "taeda: waiting for machines of job 'test' at 127.0.0.1:" + port() +
                                    ": 1 of 3 have come, not node rank 1, 2");
}

TEST_F(LaunchOnMachines, ThatStopAreMissedAndReplaced) {
  const std::string script =
      "echo $TORCHELASTIC_RESTART_COUNT; "
      "test $TORCHELASTIC_RESTART_COUNT = 1 || sleep 300";
  const Settings more = {{"TAEDA_TEST_RESTARTS", "1"}, {"TAEDA_TEST_KEEP_ALIVE_MS", "3000"}};
  const auto first = waiting_machine(script, more);
  auto second = machine(script, 1, more);
  EXPECT_EQ(without_reminders(*first), "[rank 0] 0");
  EXPECT_EQ(second->line(), "[rank 1] 0");
  second->signal(SIGKILL);
  const auto third = machine(script, 1, more);
  EXPECT_EQ(without_reminders(*first),
            "the launcher on machine m2 (node rank 1) has said nothing for 3 s");
  EXPECT_EQ(without_reminders(*first), "taeda: starting again (restart 1 of 1)");
  EXPECT_THAT(without_reminders(*first), HasSubstr("] 1"));
  EXPECT_THAT(third->line(), HasSubstr("] 1"));
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(third->wait(), 0);
}

TEST_F(LaunchOnMachines, ThatComeLaterTakePartWhereTheyMay) {
  const std::string script = "echo of $WORLD_SIZE; test $WORLD_SIZE = 2 || sleep 300";
  const Settings more = {{"TAEDA_TEST_MIN", "1"}};
  const auto first = machine(script, 1, more);
  EXPECT_EQ(first->line(), "of 1");
  const auto second = machine(script, 1, more);
  EXPECT_EQ(first->line(), "a machine has come");
  EXPECT_EQ(first->line(), "taeda: starting again");
  EXPECT_THAT(first->line(), HasSubstr("] of 2"));
  EXPECT_THAT(second->line(), HasSubstr("] of 2"));
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
}

TEST_F(LaunchOnMachines, HaveEachAPlaceOfItsOwn) {
  const Settings same = {{"TAEDA_TEST_NODE_RANK", "1"}, {"TAEDA_TEST_NAME", "here"}};
  const auto first = machine("echo $RANK", 1, {{"TAEDA_TEST_NODE_RANK", "0"}});
  const std::string script =
      "echo $RANK; until [ -e " + (folder_ / "go") + " ]; do sleep 0.02; done";
  const auto second = machine(script, 1, same);
  EXPECT_THAT(second->line(), HasSubstr("this machine runs 'sh -c "));
  EXPECT_EQ(second->line(), "[rank 1] 1");
  const auto third = machine(script, 1, same);
  EXPECT_THAT(third->line(), MatchesRegex("node rank 1 of job 'test' is taken by another launcher: "
                                          "process [0-9]+ on here; each machine has .*"));
  EXPECT_EQ(third->wait(), 1);
  std::ofstream(folder_ / "go").close();
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
}

TEST_F(LaunchOnMachines, ThatWereToldOtherwiseAreRefused) {
  const auto first = waiting_machine("true", {});
  const auto more = machine("true", 1, {{"TAEDA_TEST_MAX", "3"}});
  EXPECT_EQ(more->line(),
            "the launchers of job 'test' must be told the same, but this one has --nnodes 2:3 and "
            "the first, on m1, 2");
  const auto again = machine("true", 1, {{"TAEDA_TEST_RESTARTS", "1"}});
  EXPECT_EQ(again->line(),
            "the launchers of job 'test' must be told the same, but this one has --max-restarts 1 "
            "and the first, on m1, 0");
  const auto second = machine("true", 1);  // the job goes on without them
  EXPECT_EQ(first->wait(), 0);
  EXPECT_EQ(second->wait(), 0);
}

/// Two launchers of which the second reaches the first through a relay, and sees nothing else of
/// it.
class LaunchOverARelay : public LaunchOnMachines {
 protected:
  std::string waiting() const {
    return "echo began; until [ -e " + (folder_ / "go") + " ]; do sleep 0.02; done; echo ended";
  }
  void begin(const std::string& keep_alive) {
    const Settings more = {{"TAEDA_TEST_KEEP_ALIVE_MS", keep_alive}};
    Settings near = more, far = more;
    near["TAEDA_TEST_NODE_RANK"] = "0";
    far["TAEDA_TEST_NODE_RANK"] = "1";
    far["TAEDA_TEST_PORT"] = relay_.port();
    first_ = machine(waiting(), 1, near);
    second_ = machine(waiting(), 1, far);
    EXPECT_EQ(first_->line(), "[rank 0] began");
    EXPECT_EQ(second_->line(), "[rank 1] began");
  }
  Relay relay_{port()};
  std::unique_ptr<Process> first_, second_;
};

TEST_F(LaunchOverARelay, ABrokenConnectionIsMadeAgain) {
  begin("15000");
  for (int i = 0; i < 3; ++i) {
    relay_.cut();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // a look or two at the store
  }
  std::ofstream(folder_ / "go").close();
  for (const auto& each : {first_.get(), second_.get()}) {
    EXPECT_THAT(each->line(), HasSubstr("] ended"));
    EXPECT_EQ(each->wait(), 0);
  }
}

TEST_F(LaunchOverARelay, SilenceIsBorneAsLongAsItMayLast) {
  begin("3000");
  relay_.stop();
  EXPECT_EQ(first_->line(),
            "taeda: the launcher on machine m2 (node rank 1) has said nothing for 3 s");
  EXPECT_THAT(second_->line(), MatchesRegex("the launcher that serves job 'test' at .* has said "
                                            "nothing for 3 s \\(.*"));
  EXPECT_EQ(first_->wait(), 1);
  EXPECT_EQ(second_->wait(), 1);
}

TEST_F(LaunchOverARelay, WhoEndedIsNotWaitedFor) {
  begin("600000");
  first_->signal(SIGKILL);
  relay_.end();
  EXPECT_THAT(second_->line(),
              MatchesRegex("the launcher that serves job 'test' at .* has ended.*"));
  EXPECT_EQ(second_->wait(), 1);
}

TEST_F(Launch, AReportThatNobodyTakesIsDropped) {
  LaunchOptions options = this_program("reporting much", 1);
  options.monitor = true;
  const Shown shown = run(options);
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, Contains("did not wait"));
}

}  // namespace
}  // namespace taeda::distributed::cluster
