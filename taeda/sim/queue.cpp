#include "taeda/sim/queue.h"

#include <chrono>

namespace taeda::inline v0_2::sim {

bool Ticket::done() const {
  std::lock_guard lock(mutex_);
  return done_;
}

void Ticket::complete() {
  std::vector<Queue*> sleeping;
  {
    std::lock_guard lock(mutex_);
    if (done_) return;
    done_ = true;
    time_ = std::chrono::steady_clock::now();
    sleeping.swap(sleeping_);
    changed_.notify_all();
  }
  for (Queue* q : sleeping) q->wake();
}

void Ticket::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return done_; });
}

std::chrono::steady_clock::time_point Ticket::time() const {
  std::lock_guard lock(mutex_);
  return time_;
}

bool Ticket::done_or_wake(Queue* queue) {
  std::lock_guard lock(mutex_);
  if (!done_) sleeping_.push_back(queue);
  return done_;
}

namespace {

/// Completes its ticket when it is run, and also when it is dropped: nobody may wait for ever.
struct RecordTask final : Task {
  explicit RecordTask(std::shared_ptr<Ticket> t) : ticket(std::move(t)) {}
  ~RecordTask() override { ticket->complete(); }
  void run() override {}
  std::shared_ptr<Ticket> ticket;
};

struct WaitTask final : Task {
  WaitTask(std::shared_ptr<Ticket> t, std::chrono::nanoseconds d) : ticket(std::move(t)), time(d) {}
  void run() override {}
  Ticket* after() override { return ticket.get(); }
  std::chrono::nanoseconds delay() const override { return time; }
  std::shared_ptr<Ticket> ticket;
  std::chrono::nanoseconds time;
};

}  // namespace

void Queue::push(std::unique_ptr<Task> task) {
  task->queued(stream_);
  std::unique_lock lock(mutex_);
  if (stopped_) {
    lock.unlock();
    run(std::move(task));
    return;
  }
  ++queued_;
  *tail_ = task.release();
  tail_ = &(*tail_)->next;
  if (!thread_.joinable())
    thread_ = std::thread([this] { work(); });
  else if (sleeping_)
    wake_.notify_one();
}

void Queue::push_record(std::shared_ptr<Ticket> ticket) {
  if (idle())
    ticket->complete();
  else
    push(std::make_unique<RecordTask>(std::move(ticket)));
}

void Queue::push_wait(std::shared_ptr<Ticket> ticket, std::chrono::nanoseconds delay) {
  if (ticket && delay.count() == 0 && ticket->done()) return;
  push(std::make_unique<WaitTask>(std::move(ticket), delay));
}

std::shared_ptr<Recording> Queue::recording() const {
  if (!recorded_.load(std::memory_order_acquire)) [[likely]]
    return nullptr;
  std::lock_guard lock(mutex_);
  return recording_;
}

void Queue::set_recording(std::shared_ptr<Recording> recording) {
  std::lock_guard lock(mutex_);
  recorded_.store(recording != nullptr, std::memory_order_release);
  recording_ = std::move(recording);
}

bool Queue::idle() const {
  std::lock_guard lock(mutex_);
  return done_ == queued_;
}

void Queue::drain() {
  std::unique_lock lock(mutex_);
  progress_.wait(lock, [this, target = queued_] { return done_ >= target; });
}

void Queue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  std::lock_guard lock(mutex_);
  stopped_ = true;  // also where there never was a thread
}

void Queue::wake() {
  std::lock_guard lock(mutex_);
  wake_.notify_all();
}

void Queue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    sleeping_ = true;
    wake_.wait(lock, [this] { return head_ || stopping_; });
    sleeping_ = false;
    if (!head_) {
      stopped_ = true;
      return;
    }
    std::unique_ptr<Task> task(head_);
    head_ = task->next;
    if (!head_) tail_ = &head_;
    const bool dropped = stopping_ || !wait_for(*task, lock);
    lock.unlock();
    if (dropped)
      task.reset();
    else
      run(std::move(task));
    lock.lock();
    ++done_;
    progress_.notify_all();
  }
}

/// Waits for the task's ticket and delay; false when the queue stops first.
bool Queue::wait_for(Task& task, std::unique_lock<std::mutex>& lock) {
  if (Ticket* ticket = task.after(); ticket && !ticket->done_or_wake(this))
    wake_.wait(lock, [&] { return stopping_ || ticket->done(); });
  if (task.delay().count() > 0) wake_.wait_for(lock, task.delay(), [this] { return stopping_; });
  return !stopping_;
}

void Queue::run(std::unique_ptr<Task> task) {
  try {
    task->run();
  } catch (...) {
    on_error_(std::current_exception());
  }
}

}  // namespace taeda::sim
