#include "tools/taeda/train/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "taeda/base/parallel_for.h"
#include "taeda/distributed/cluster/agent_store.h"
#include "taeda/distributed/cluster/job_secret.h"
#include "taeda/distributed/cluster/reporting_children.h"
#include "taeda/distributed/cluster/stop_signals.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/store/tcp_store.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace cluster = distributed::cluster;
using Clock = std::chrono::steady_clock;

/// The descriptor on which a rank says why it failed: its exit code as a byte, then the error.
constexpr const char* kReportFile = "TAEDA_TRAIN_REPORT";
/// How long the others have to end by themselves when one has failed: they may be writing a file.
constexpr auto kGrace = std::chrono::seconds(3);
/// Signals within this time are one.
constexpr auto kOnce = std::chrono::milliseconds(500);

/// How a rank failed.
struct Failure {
  int rank = 0;
  int code = kExitFailure;
  std::string text;
  bool by_signal = false;
};

bool ended_well(const cluster::ReportingChild& rank) {
  return rank.ended &&
         (rank.ended->ok() || (!rank.ended->signal && rank.ended->code == kExitInterrupted));
}

std::optional<Failure> failure_of(const cluster::ReportingChild& rank) {
  if (!rank.said.empty()) return Failure{.code = rank.said[0], .text = rank.said.substr(1)};
  if (!rank.ended || ended_well(rank)) return {};
  return Failure{.text = rank.ended->text(), .by_signal = rank.ended->signal != 0};
}

class Processes {
 public:
  explicit Processes(const TrainOptions& options)
      : options_(options),
        job_("train " + std::to_string(::getpid())),
        secret_(/*invent=*/true),
        store_("127.0.0.1",
               {.port = 0, .is_master = true, .job = job_, .security = secret_.security()}) {
    for (int64_t rank = 0; rank < options.nproc; ++rank) start(rank);
  }

  int run() {
    std::optional<Failure> failed;
    while (!failed && !ranks_.all_ended()) failed = look();
    if (!failed) return ranks_[0].ended->code;
    end_others();
    if (stop_.count() > 0 && failed->by_signal) {
      std::fprintf(stderr, "taeda: interrupted\n");
      return kExitInterrupted;
    }
    if (failed->code == kExitUsage) throw UsageError(failed->text);
    throw DistributedError("rank " + std::to_string(failed->rank) + " (process " +
                           std::to_string(ranks_[failed->rank].child.id()) + "): " + failed->text);
  }

 private:
  void start(int64_t rank) {
    cluster::Pipe report;
    const cluster::Descriptor dropped(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    cluster::ChildOptions child{
        .command = options_.command_line,
        .program = "/proc/self/exe",
        .environment = cluster::place_variables(rank, options_.nproc, rank, options_.nproc),
        .output = rank == 0 ? -1 : dropped.get(),
        .inherited = {report.write.get()}};
    secret_.hand_to(child);
    child.environment.merge(cluster::store_variables("127.0.0.1", store_.port(), 0));
    child.environment["TAEDA_DISTRIBUTED_JOB_ID"] = job_;
    child.environment[kReportFile] = std::to_string(report.write.get());
    if (!std::getenv("OMP_NUM_THREADS"))
      child.environment["OMP_NUM_THREADS"] =
          std::to_string(std::max<int64_t>(1, get_num_threads() / options_.nproc));
    ranks_.start(child, std::move(report.read));
  }

  /// Waits until something happens, or a moment; passes on what this process was told to do, and
  /// returns the rank that failed first.
  std::optional<Failure> look() {
    ranks_.look(std::chrono::milliseconds(20));
    pass_on_signals();
    std::optional<Failure> out;
    for (int i = 0; i < ranks_.count(); ++i) {
      std::optional<Failure> one = failure_of(ranks_[i]);
      // Of several that are found at once, one that a signal ended did not fail because of others.
      if (!one || (out && !one->by_signal)) continue;
      one->rank = i;
      out = one;
    }
    return out;
  }

  /// Who sent it may have sent it to the ranks, too, and to this process twice (a terminal,
  /// `timeout` and batch systems do one or both). A rank ends at once at its second signal of a
  /// kind, so it gets one of the other kind.
  void pass_on_signals() {
    const int count = stop_.count();
    if (count == seen_) return;
    const auto now = Clock::now();
    if (seen_ == 0) {
      told_ = now;
      ranks_.signal_all(stop_.last() == SIGTERM ? SIGINT : SIGTERM);
    } else if (now - told_ > kOnce) {
      ranks_.signal_all(SIGKILL);
    }
    seen_ = count;
  }

  void end_others() {
    const auto deadline = Clock::now() + kGrace;
    while (!ranks_.all_ended() && Clock::now() < deadline) look();
    ranks_.kill_all();
  }

  const TrainOptions& options_;
  const cluster::StopSignals stop_;
  int seen_ = 0;                 ///< signals
  Clock::time_point told_ = {};  ///< when the ranks got the first one
  const std::string job_;
  const cluster::JobSecret secret_;
  const distributed::TCPStore store_;
  cluster::ReportingChildren ranks_;
};

/// Ends a rank at once, so that the others hear of it: nothing here is worth their waiting.
[[noreturn]] void fail_as_rank(int report, int code, const std::string& text) {
  cluster::write_all(report, static_cast<char>(code) + text);
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace

int train_in_processes(const TrainOptions& options) {
  user_input([] {
    distributed::load_engine("gloo", "taeda train --nproc", "libgloo-dev");
    distributed::load_engine("grpc", "taeda train --nproc",
                             "libgrpc++-dev, protobuf-compiler-grpc, libprotobuf-dev");
    cluster::check_own_address("127.0.0.1");
  });
  return Processes(options).run();
}

int as_rank(const std::function<int()>& train) {
  const char* text = ::secure_getenv(kReportFile);
  if (!text) return train();
  const int report = std::atoi(text);
  ::unsetenv(kReportFile);
  ::fcntl(report, F_SETFD, FD_CLOEXEC);
  try {
    return train();
  } catch (const UsageError& e) {
    fail_as_rank(report, kExitUsage, e.message());
  } catch (const std::exception& e) {
    fail_as_rank(report, kExitFailure, e.what());
  }
}

}  // namespace taeda::tool
