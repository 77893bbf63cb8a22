// A simulated stream: a thread that runs tasks in the order in which they were queued.
//
// Every stream has a thread of its own, started with its first task. So two streams are ordered by
// events only, as on real hardware, and a missing event is a real race.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace taeda::inline v0_2::sim {

class Queue;
class Recording;

/// Something that happens once: an event's place in a stream was reached, or a gate was opened.
class Ticket {
 public:
  bool done() const;
  void complete();
  /// Blocks the calling thread.
  void wait();
  std::chrono::steady_clock::time_point time() const;

  int64_t predicted = 0;  ///< nanoseconds; set before others see the ticket

 private:
  friend class Queue;
  /// False if it still has to happen; `queue` is then woken when it does.
  bool done_or_wake(Queue* queue);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::chrono::steady_clock::time_point time_;
  std::vector<Queue*> sleeping_;
};

/// A unit of work. Destroyed on the stream's thread before the stream counts it as done.
struct Task {
  virtual ~Task() = default;
  /// On the thread that queues it, before it is queued on the stream.
  virtual void queued(int64_t) {}
  virtual void run() = 0;
  /// Waited for before `run`; nullptr for nothing.
  virtual Ticket* after() { return nullptr; }
  /// Added to that wait.
  virtual std::chrono::nanoseconds delay() const { return {}; }
  /// Of the kernel.
  virtual const char* name() const { return ""; }

  Task* next = nullptr;
};

class Queue {
 public:
  /// `on_error` receives what a task throws, on the queue's thread. `stream` is its number.
  explicit Queue(std::function<void(std::exception_ptr)> on_error, int64_t stream = 0)
      : stream_(stream), on_error_(std::move(on_error)) {}

  void push(std::unique_ptr<Task> task);
  /// Marks the place after everything queued so far: done at once if nothing is.
  void push_record(std::shared_ptr<Ticket> ticket);
  void push_wait(std::shared_ptr<Ticket> ticket, std::chrono::nanoseconds delay = {});
  bool idle() const;
  /// The capture that this stream takes part in, or null. What it records does not come here.
  std::shared_ptr<Recording> recording() const;
  void set_recording(std::shared_ptr<Recording> recording);
  /// Waits until everything queued before the call is done.
  void drain();
  /// Ends the thread. What was not begun is dropped; later tasks run on the thread that queues
  /// them.
  void stop();

 private:
  friend class Ticket;
  void work();
  bool wait_for(Task& task, std::unique_lock<std::mutex>& lock);
  void run(std::unique_ptr<Task> task);
  void wake();

  const int64_t stream_;
  const std::function<void(std::exception_ptr)> on_error_;
  std::atomic<bool> recorded_{false};  ///< whether recording_ is set
  std::shared_ptr<Recording> recording_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable progress_;
  Task* head_ = nullptr;
  Task** tail_ = &head_;
  uint64_t queued_ = 0;
  uint64_t done_ = 0;
  bool sleeping_ = false;
  bool stopping_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace taeda::sim
