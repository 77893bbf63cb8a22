// A function on several processes, with the defaults of torch.multiprocessing.spawn.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/base/source_location.h"
#include "taeda/distributed/cluster/carried.h"

namespace taeda::inline v0_2::distributed {

struct SpawnOptions {
  /// Whether spawn() waits for the processes, true by default; else the caller must, by the context
  /// it gets.
  bool join = true;
  /// How long the other processes have to end by themselves when one has failed, by default 5
  /// seconds. Then they are killed.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  /// Whether this process serves a store to those it starts, so that init_process_group() finds it:
  /// by default unless MASTER_ADDR and MASTER_PORT are set.
  bool serve_store = true;
};

/// A process that spawn() started has failed; which one, and its id in the system.
/// Thrown by `join`, with the text of the process's error.
class ProcessException : public DistributedError {
 public:
  ProcessException(const std::string& message, int error_index, int error_pid)
      : DistributedError(message), error_index_(error_index), error_pid_(error_pid) {}
  int error_index() const { return error_index_; }
  int error_pid() const { return error_pid_; }

 private:
  int error_index_, error_pid_;
};

/// The error of a process whose function threw; the message has the text of what it threw.
class ProcessRaisedException : public ProcessException {
  using ProcessException::ProcessException;
};

/// The error of a process that ended without throwing, by exit() or by a signal.
class ProcessExitedException : public ProcessException {
 public:
  ProcessExitedException(const std::string& message, int error_index, int error_pid, int exit_code,
                         std::string signal_name)
      : ProcessException(message, error_index, error_pid),
        exit_code_(exit_code),
        signal_name_(std::move(signal_name)) {}
  /// What it called exit() with; minus the number of the signal that ended it.
  int exit_code() const { return exit_code_; }
  /// "SIGSEGV"; empty where no signal ended it.
  const std::string& signal_name() const { return signal_name_; }

 private:
  int exit_code_;
  std::string signal_name_;
};

namespace detail {
class Spawned;
}

/// Processes that spawn() started, as torch.multiprocessing.ProcessContext. Those that still run
/// when it goes are killed. In a process that another call of spawn() has started there are none:
/// what is asked of them there does nothing.
class ProcessContext {
 public:
  ProcessContext();  ///< a context without processes, the default
  explicit ProcessContext(std::unique_ptr<detail::Spawned> processes);
  ~ProcessContext();
  ProcessContext(ProcessContext&&) noexcept;
  ProcessContext& operator=(ProcessContext&&) noexcept;

  /// Waits for the processes, at most for `timeout` if there is one. Returns whether all have ended
  /// and none has failed. Throws what the first one to fail says, when the others are ended, too;
  /// when it is called again the same.
  bool join(std::optional<std::chrono::milliseconds> timeout = {});
  /// The processes' numbers by rank, also of those that have ended; empty without any.
  std::vector<int> pids() const;
  /// Ends a process, or all, by SIGTERM; does not wait. Throws IndexError for a rank that there is
  /// not. join() throws then as for any process that a signal ended.
  void terminate(std::optional<int> rank = {});
  /// Ends the processes by SIGKILL; those that have ended are no error.
  void kill(std::optional<int> rank = {});

 private:
  void signal(int number, std::optional<int> rank, const char* op);
  std::unique_ptr<detail::Spawned> processes_;
};

namespace detail {
/// spawn() behind its types: `run` gets the rank and the arguments' text.
ProcessContext run_spawn(int nprocs, const std::string& arguments, const SpawnOptions& options,
                         SourceLocation site,
                         const std::function<void(int rank, const std::string& arguments)>& run);
}  // namespace detail

/// Calls fn(rank, arguments...) in `nprocs` new processes, for rank 0 to nprocs - 1, and returns
/// when all have ended. Throws what the first one to fail says, as ProcessRaisedException or
/// ProcessExitedException; the others are ended then: SIGTERM, after `options.grace` SIGKILL.
///
/// A process is the program again, with the arguments of its command line: its main() runs until it
/// makes the same call of spawn(), calls `fn` there, and exits. So main() must come to that call
/// whenever it is started so, and what it does before is done in each process again; what it prints
/// on stdout until then is dropped, and earlier calls of spawn() return at once. What may differ
/// between processes - a random number, a folder made for the run - travels as an argument
/// (numbers, strings, and vectors of them) rather than in the closure.
///
///     void train(int rank, int world_size) { ... }
///     int main() { distributed::spawn(train, std::tuple(2), /*nprocs=*/2); }
///
/// With `.join = false` it returns when they are started, and the context that it returns waits for
/// them or ends them.
///
/// The processes have RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE, and init_process_group()
/// needs no address: this process serves a store on a port that the system chooses. Where
/// MASTER_ADDR and MASTER_PORT are set already, those stand and rank 0 serves, as in PyTorch.
/// Processes die with the thread that called spawn(), whatever ends it, and with the context. One
/// thread of a program calls spawn(), and `fn` does not call it.
template <class F, class... Args>
ProcessContext spawn(F&& fn, const std::tuple<Args...>& arguments, int nprocs = 1,
                     const SpawnOptions& options = {},
                     SourceLocation site = SourceLocation::current()) {
  std::string text;
  std::apply([&text](const Args&... args) { (detail::carry(text, args), ...); }, arguments);
  return detail::run_spawn(nprocs, text, options, site,
                           [&fn](int rank, [[maybe_unused]] const std::string& carried) {
                             [[maybe_unused]] size_t at = 0;
                             // Braces: the arguments are read in their order.
                             const std::tuple<detail::Carried<Args>...> read{
                                 detail::fetch<detail::Carried<Args>>(carried, at)...};
                             std::apply([&](const auto&... args) { fn(rank, args...); }, read);
                           });
}

template <class F>
ProcessContext spawn(F&& fn, int nprocs = 1, const SpawnOptions& options = {},
                     SourceLocation site = SourceLocation::current()) {
  return spawn(std::forward<F>(fn), std::tuple<>(), nprocs, options, site);
}

}  // namespace taeda::inline v0_2::distributed

/// torch.multiprocessing; programs write `namespace mp = multiprocessing;`.
namespace taeda::inline v0_2::multiprocessing {
using distributed::ProcessContext;
using distributed::ProcessExitedException;
using distributed::ProcessRaisedException;
using distributed::spawn;
}  // namespace taeda::inline v0_2::multiprocessing
