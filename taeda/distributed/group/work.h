// An operation under way.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "taeda/device/stream.h"
#include "taeda/distributed/group/communicator.h"
#include "taeda/distributed/group/fingerprint.h"
#include "taeda/distributed/own_process.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributed {

/// What an asynchronous operation returns; torch.distributed.Work. Any thread may use it. The
/// tensors may be used after `wait`; those of an accelerator by what is queued after it.
class Work : public std::enable_shared_from_this<Work> {
 public:
  Work(Fingerprint what, std::vector<Tensor> result);

  /// Blocks until this rank's part is done, or queued by an engine that serves the tensors' device,
  /// and throws its error; returns true. On an accelerator the current streams then wait for what
  /// is still to be done there, the host does not. Throws
  /// DistributedError after `timeout`, if one is given; the operation goes on.
  bool wait(std::optional<std::chrono::milliseconds> timeout = {});
  bool is_completed() const;
  /// Whether it is completed, and without an error.
  bool is_success() const;
  /// The error, null while there is none.
  std::exception_ptr exception() const;
  /// The rank that a receive got its message from. Throws Error for anything else.
  int source_rank() const;
  /// The tensors that the operation gives values to; empty where it has none.
  const std::vector<Tensor>& result() const { return result_; }
  /// Has `f` called when it is completed: on the thread that completes it, or here and now if it
  /// is. What `f` calls of the group comes before the operations that wait for this one's end:
  /// Note [Operations of callbacks]. Nothing else of the group must be waited for in it.
  void on_completion(std::function<void(Work&)> f);
  /// The call that the work is of, as errors name it.
  const Fingerprint& what() const { return what_; }

 private:
  void wait_watched(std::unique_lock<std::mutex>& lock) const;
  void call(const std::function<void(Work&)>& f);
  friend class GroupCore;
  friend class Staging;
  friend class ProcessGroup;
  void let_wait();  ///< all is queued, and `arrived_` complete
  /// What is to be called now.
  std::vector<std::function<void(Work&)>> finish(std::exception_ptr error);
  Clock::time_point running_since() const {
    return Clock::time_point(Clock::duration(started_.load()));
  }
  Clock::time_point due() const { return running_since() + timeout_; }

  const OwnProcess process_;
  const Fingerprint what_;
  const std::vector<Tensor> result_;
  uint64_t record_ = 0;                   ///< in the flight recorder
  const void* group_ = nullptr;           ///< the GroupCore that runs it
  uint64_t lane_ = 0;                     ///< there
  std::shared_ptr<Work> first_;           ///< whose callbacks led to this operation
  std::atomic<uint32_t> followers_{0};    ///< operations that its callbacks have led to
  std::atomic<Clock::rep> started_{0};    ///< 0: it is queued; who changes it runs or ends it
  std::chrono::milliseconds timeout_{0};  ///< how long it may run
  int source_rank_ = -1;
  std::vector<Event> arrived_;  ///< on the streams that bring results to accelerators

  mutable std::mutex mutex_;
  mutable std::condition_variable done_;
  bool queued_ = false;  ///< on streams that tell when it is completed
  bool completed_ = false;
  std::exception_ptr error_;
  std::vector<std::function<void(Work&)>> callbacks_;
};

/// Note [Operations of callbacks]
/// A callback of operation 5 may call operations of the same group and wait for them, as hooks of
/// data-parallel training do. They cannot queue behind what the program has called meanwhile: the
/// thread that would run them is in the callback. So they run at once, on its thread, and their
/// numbers are 5.1, 5.2...: the same on all ranks, whatever number the program itself has come to
/// by then on each.

/// What asynchronous calls return; null from a rank that is not in the group.
using WorkPtr = std::shared_ptr<Work>;

/// Has threads that wait for operations call `watch` at once and then every 50 ms: for programs
/// whose interpreter must hear signals meanwhile. It returns whether the calling thread is to go on
/// asking, and throws to end the wait; the operation goes on. Null, as in the beginning: nothing is
/// called. Operations that such a thread waits for run on threads of the group.
void watch_waits(bool (*watch)());

/// How long threads of this process have waited for operations of groups, all together.
std::chrono::nanoseconds time_waited();

namespace detail {
/// Whether what the calling thread waits for is watched.
bool is_watched();

/// The operation whose callback the calling thread is in; null for none.
Work* completing();

/// Counts the time that it exists.
class Waiting {
 public:
  Waiting() : since_(std::chrono::steady_clock::now()) {}
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::chrono::steady_clock::time_point since_;
};
}  // namespace detail

}  // namespace taeda::inline v0_2::distributed
