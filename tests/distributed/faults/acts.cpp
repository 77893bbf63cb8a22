#include "tests/distributed/faults/acts.h"

#include <signal.h>
#include <sys/resource.h>

#include <map>
#include <string>

#include "taeda/base/error.h"
#include "taeda/distributed/store/tcp_store.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/group/meeting_place.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

void die() { ::raise(SIGKILL); }
void leave_abruptly() { std::_Exit(3); }
void fail() { throw Error("the data set is gone"); }
/// Until the test lets it go on.
void stop() { ::raise(SIGSTOP); }

void run_out_of_memory() { ones({1 << 20}, TensorOptions().device("sim")); }

/// Files of this process end after 4 KiB: writing beyond fails, or kills it.
void fill_disk() {
  const rlimit most = {4096, 4096};
  ::setrlimit(RLIMIT_FSIZE, &most);
}
void fail_on_a_full_disk() {
  ::signal(SIGXFSZ, SIG_IGN);
  fill_disk();
}
void die_while_writing() {
  const rlimit none = {0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  fill_disk();
}

void kill_store() { ::kill(std::stoi(variable("TAEDA_TEST_STORE_PROCESS")), SIGKILL); }
void kill_store_and_die() {
  kill_store();
  die();
}

/// Another process wants to join; its first words are printed.
std::function<void()> meet(std::map<std::string, std::string> stranger) {
  return [=]() mutable {
    stranger.try_emplace("TAEDA_TEST_FAULT", "");
    Process other("fault_job", stranger);
    std::printf("stranger: %s\n", other.line().c_str());
    other.wait();
  };
}

/// A second job is told the same port, for its store.
void take_port() {
  distributed::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(std::stoi(variable("TAEDA_TEST_PORT")));
  options.is_master = true;
  options.wait_for_workers = false;
  options.job = "another";
  std::printf("stranger: %s\n",
              error_of([&] { distributed::TCPStore("localhost", options); }).c_str());
}

FaultCase other_operation(FaultCase c) {
  return {c.op == fault_cases()[0].op ? fault_cases().back().op : fault_cases()[0].op, c.count};
}
FaultCase other_shape(FaultCase c) { return {c.op, c.count + kFaultJobRanks}; }

const std::map<std::string, Act>& acts() {
  static const std::map<std::string, Act> all = {
      {"dies", {.during = die}},
      {"dies_in_backward", {.backward = die}},
      {"dies_in_checkpoint", {.checkpoint = die_while_writing}},
      {"exits", {.before = leave_abruptly}},
      {"throws", {.before = fail}},
      {"throws_meanwhile", {.during = fail}},
      {"stops", {.during = stop}},
      {"out_of_memory", {.before = run_out_of_memory}},
      {"disk_full", {.checkpoint = fail_on_a_full_disk}},
      {"kills_store", {.during = kill_store}},
      {"kills_store_and_dies", {.during = kill_store_and_die}},
      {"same_rank", {.during = meet({})}},
      {"other_size", {.during = meet({{"RANK", "3"}, {"WORLD_SIZE", "4"}})}},
      {"other_job", {.during = meet({{"TAEDA_DISTRIBUTED_JOB_ID", "another"}})}},
      {"same_port", {.during = take_port}},
      {"other_operation", {.disagrees = other_operation}},
      {"other_shape", {.disagrees = other_shape}},
      {"nan_batch", {.nan_batch = true}},
  };
  return all;
}

}  // namespace

Act act_of(int rank) {
  const std::string fault = variable("TAEDA_TEST_FAULT");
  if (fault.empty() || rank != std::stoi(variable("TAEDA_TEST_VICTIM"))) return {};
  return acts().at(fault);
}

}  // namespace taeda
