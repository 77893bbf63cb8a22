// The threads that functions called by other workers run on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace taeda::inline v0_2::distributed::rpc {

/// Runs at most `size` tasks at a time, not counting those that wait for other workers: a task that
/// calls a worker and waits for it gives its place to another one. So a worker that is called back
/// by the one that it calls has a thread for it, however often they do so, up to kMostThreads.
class Pool {
 public:
  static constexpr size_t kMostThreads = 1024;
  using Task = std::function<void()>;

  explicit Pool(size_t size) : size_(size) {}
  ~Pool();  ///< stop()
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Tasks must not throw. After stop() it is dropped. Throws DistributedError where there is no
  /// thread for it and the system has none.
  void submit(Task task);
  /// Lets running tasks end, drops those that have not begun.
  void stop();
  /// The same; false if some have not ended after `patience`. The pool must not go before they do.
  bool stop(std::chrono::milliseconds patience);
  /// How many tasks run.
  size_t running() const;
  /// Whether the calling thread is one of its own.
  bool runs_here() const;
  /// Whether no task runs or waits.
  bool idle() const;

  /// The calling thread waits for something, for the time of this object. Does nothing on threads
  /// that are no pool's.
  class Waiting {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Pool* pool_;
  };

 private:
  void work();
  void start_if_needed();
  bool may_run() const { return running_ < size_ + waiting_; }

  const size_t size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  size_t running_ = 0, waiting_ = 0, idle_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace taeda::inline v0_2::distributed::rpc
