#include "taeda/distributed/cluster/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>

#include "taeda/distributed/cluster/agent_store.h"
#include "taeda/distributed/cluster/job_secret.h"
#include "taeda/distributed/cluster/reporting_children.h"
#include "taeda/distributed/engine.h"
#include "taeda/distributed/store/tcp_store.h"

namespace taeda::inline v0_2::distributed {

namespace {

using cluster::Descriptor;
using cluster::ExitStatus;
using cluster::Pipe;
using cluster::ReportingChild;

/// Tells a process which call of spawn() it was started for, and which process of it it is.
constexpr const char* kSpawned = "TAEDA_SPAWNED";
/// What the process writes when it has come to that call.
constexpr char kArrived = '!';

std::string place(const SourceLocation& site) {
  return std::string(site.file_name()) + ":" + std::to_string(site.line());
}

/// What a process that spawn() started knows of that.
struct Origin {
  int call = 0, rank = 0, nprocs = 0;
  pid_t parent = 0;
  int arguments = -1, report = -1, output = -1;  ///< descriptors

  std::string text() const {
    std::ostringstream out;
    out << call << ' ' << rank << ' ' << nprocs << ' ' << parent << ' ' << arguments << ' '
        << report << ' ' << output;
    return out.str();
  }
  /// Nothing in a process that was not started so. A program that such a process starts inherits
  /// its variables, but has another parent.
  static std::optional<Origin> of_this_process() {
    const char* text = ::secure_getenv(kSpawned);
    if (!text) return {};
    Origin out;
    std::istringstream in(text);
    in >> out.call >> out.rank >> out.nprocs >> out.parent >> out.arguments >> out.report >>
        out.output;
    const bool good = !in.fail() && out.parent == ::getppid();
    ::unsetenv(kSpawned);
    return good ? std::optional(out) : std::nullopt;
  }
};

/// This process's calls of spawn().
struct Calls {
  const std::optional<Origin> origin = Origin::of_this_process();
  int made = 0;
  bool inside = false;  ///< the function runs

  static Calls& instance() {
    static Calls calls;
    return calls;
  }
};

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    out.emplace_back(text.c_str() + at);
    at += out.back().size() + 1;
  }
  return out;
}

[[noreturn]] void leave(const Origin& origin, const std::string& error) {
  std::cout.flush();
  std::fflush(nullptr);
  cluster::write_all(origin.report, error);
  std::exit(error.empty() ? 0 : 1);
}

/// In the process that was started for this call: runs the function and ends.
[[noreturn]] void run_as_process(
    const Origin& origin, const SourceLocation& site,
    const std::function<void(int rank, const std::string& arguments)>& run) {
  std::cout.flush();
  std::fflush(stdout);
  ::dup2(origin.output, STDOUT_FILENO);
  ::close(origin.output);
  ::fcntl(origin.report, F_SETFD, FD_CLOEXEC);
  const std::string message = cluster::text_of_file(origin.arguments);
  ::close(origin.arguments);
  const size_t end = message.find('\n');
  const std::string expected = message.substr(0, end);
  cluster::write_all(origin.report, std::string(1, kArrived));
  if (expected != place(site))
    leave(origin, "its call of spawn #" + std::to_string(origin.call) + " is at " + place(site) +
                      ", but the one that started it is at " + expected);
  try {
    Calls::instance().inside = true;
    run(origin.rank, message.substr(end + 1));
  } catch (const std::exception& e) {
    leave(origin, e.what());
  } catch (...) {
    leave(origin, "an exception that is no std::exception");
  }
  leave(origin, "");
}

}  // namespace

/// The processes of one call.
class detail::Spawned {
 public:
  Spawned(int call, int nprocs, const std::string& arguments, const SpawnOptions& options,
          const SourceLocation& site)
      : call_(call),
        nprocs_(nprocs),
        options_(options),
        serves_(nprocs > 1 && options.serve_store && has_no_address() && has_engine("grpc")),
        secret_(/*invent=*/serves_),
        site_(site),
        arguments_(cluster::file_of_text("taeda_spawn", place(site) + "\n" + arguments)) {
    if (serves_) serve_store();
    for (int rank = 0; rank < nprocs; ++rank) start(rank);
  }

  bool join(std::optional<std::chrono::milliseconds> timeout) {
    const auto begin = Clock::now();
    look(std::chrono::milliseconds(0));
    while (!failed_ && !children_.all_ended()) {
      std::chrono::milliseconds time = kLook;
      if (timeout) {
        const auto spent = std::chrono::floor<std::chrono::milliseconds>(Clock::now() - begin);
        if (spent >= *timeout) break;
        time = std::min(time, *timeout - spent);
      }
      look(time);
    }
    if (!failed_) return children_.all_ended();
    end_others();
    fail(*failed_);
  }

  int count() const { return nprocs_; }
  pid_t pid(int rank) const { return children_[rank].child.id(); }
  void signal(int rank, int number) { children_.signal(rank, number); }

 private:
  static bool arrived(const ReportingChild& c) { return c.said.starts_with(kArrived); }
  static bool failed(const ReportingChild& c) { return c.ended && !(c.ended->ok() && arrived(c)); }

  using Clock = std::chrono::steady_clock;
  /// How often ended processes are looked for.
  static constexpr std::chrono::milliseconds kLook{20};

  static bool has_no_address() {
    return !std::getenv("MASTER_ADDR") || !std::getenv("MASTER_PORT");
  }

  void serve_store() {
    cluster::check_own_address("127.0.0.1");
    const std::string job = "spawn " + std::to_string(::getpid()) + "." + std::to_string(call_);
    store_ = std::make_unique<TCPStore>(
        "127.0.0.1",
        TCPStoreOptions{.port = 0, .is_master = true, .job = job, .security = secret_.security()});
    store_variables_ = cluster::store_variables("127.0.0.1", store_->port(), 0);
    store_variables_["TAEDA_DISTRIBUTED_JOB_ID"] = job;
  }

  void start(int rank) {
    Pipe report;
    // The process's own output, until it comes to this call, is what main() printed here before.
    const Descriptor output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    const Descriptor dropped(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const int kept = output ? output.get() : dropped.get();
    const Origin origin{.call = call_,
                        .rank = rank,
                        .nprocs = nprocs_,
                        .parent = ::getpid(),
                        .arguments = arguments_.get(),
                        .report = report.write.get(),
                        .output = kept};
    cluster::ChildOptions child{
        .command = command_line(),
        .program = "/proc/self/exe",
        .environment = cluster::place_variables(rank, nprocs_, rank, nprocs_),
        .output = dropped.get(),
        .inherited = {origin.arguments, origin.report, origin.output}};
    secret_.hand_to(child);
    for (const auto& variable : store_variables_) child.environment.insert(variable);
    child.environment[kSpawned] = origin.text();
    children_.start(child, std::move(report.read));
  }

  /// Waits for up to `time` until a process says something, and notes one that has failed.
  void look(std::chrono::milliseconds time) {
    children_.look(time);
    std::optional<int> found;
    // Of several that are found to have failed at once, one that a signal ended did not fail
    // because of another one.
    for (int rank = 0; rank < nprocs_; ++rank)
      if (failed(children_[rank]) && (!found || children_[rank].ended->signal)) found = rank;
    if (!failed_) failed_ = found;
  }

  void end_others() {
    children_.signal_all(SIGTERM);
    const auto deadline = Clock::now() + options_.grace;
    while (!children_.all_ended() && Clock::now() < deadline) look(kLook);
    children_.kill_all();
  }

  [[noreturn]] void fail(int rank) {
    const ReportingChild& child = children_[rank];
    const ExitStatus status = *child.ended;
    const std::string name = "process " + std::to_string(rank);
    const std::string where = " (" + place(site_) + ")";
    const int pid = static_cast<int>(child.child.id());
    if (const std::string error = arrived(child) ? child.said.substr(1) : ""; !error.empty())
      throw ProcessRaisedException(
          "spawn" + where + ": " + name + " terminated with the following error:\n" + error, rank,
          pid);
    if (status.ok())
      throw ProcessExitedException(
          "spawn" + where + ": " + name + " ended before it came to call #" +
              std::to_string(call_) +
              " of spawn; main() must come to it in each process that it starts",
          rank, pid, 0, "");
    const std::string signal = status.signal ? cluster::signal_name(status.signal) : "";
    throw ProcessExitedException(
        "spawn" + where + ": " + name + " terminated with " +
            (status.signal ? "signal " + signal : "exit code " + std::to_string(status.code)),
        rank, pid, status.signal ? -status.signal : status.code, signal);
  }

  const int call_, nprocs_;
  const SpawnOptions options_;
  const bool serves_;  ///< a store
  const cluster::JobSecret secret_;
  const SourceLocation site_;
  const Descriptor arguments_;
  std::unique_ptr<TCPStore> store_;
  cluster::Variables store_variables_;
  cluster::ReportingChildren children_;
  std::optional<int> failed_;  ///< the first, by rank
};

ProcessContext::ProcessContext(std::unique_ptr<detail::Spawned> processes)
    : processes_(std::move(processes)) {}
ProcessContext::ProcessContext() = default;
ProcessContext::~ProcessContext() = default;
ProcessContext::ProcessContext(ProcessContext&&) noexcept = default;
ProcessContext& ProcessContext::operator=(ProcessContext&&) noexcept = default;

bool ProcessContext::join(std::optional<std::chrono::milliseconds> timeout) {
  return !processes_ || processes_->join(timeout);
}

std::vector<int> ProcessContext::pids() const {
  std::vector<int> out;
  for (int rank = 0; processes_ && rank < processes_->count(); ++rank)
    out.push_back(static_cast<int>(processes_->pid(rank)));
  return out;
}

void ProcessContext::signal(int number, std::optional<int> rank, const char* op) {
  if (!processes_) return;
  const int count = processes_->count();
  TAEDA_CHECK_INDEX(!rank || (*rank >= 0 && *rank < count), "ProcessContext.", op, ": there are ",
                    count, " processes, but rank is ", rank.value_or(0));
  for (int i = 0; i < count; ++i)
    if (i == rank.value_or(i)) processes_->signal(i, number);
}

void ProcessContext::terminate(std::optional<int> rank) { signal(SIGTERM, rank, "terminate"); }
void ProcessContext::kill(std::optional<int> rank) { signal(SIGKILL, rank, "kill"); }

ProcessContext detail::run_spawn(
    int nprocs, const std::string& arguments, const SpawnOptions& options, SourceLocation site,
    const std::function<void(int rank, const std::string& arguments)>& run) {
  TAEDA_CHECK_VALUE(nprocs > 0, "spawn (", place(site), "): nprocs must be positive, but got ",
                    nprocs);
  Calls& calls = Calls::instance();
  TAEDA_CHECK_AS(DistributedError, !calls.inside, "spawn (", place(site),
                 ") was called by a function that spawn runs");
  const int call = calls.made++;
  if (calls.origin && call < calls.origin->call) return {};
  if (calls.origin) run_as_process(*calls.origin, site, run);
  ProcessContext out(std::make_unique<Spawned>(call, nprocs, arguments, options, site));
  if (options.join) out.join();
  return out;
}

}  // namespace taeda::inline v0_2::distributed
