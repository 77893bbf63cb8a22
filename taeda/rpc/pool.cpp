#include "taeda/rpc/pool.h"

#include <system_error>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/store/values.h"

namespace taeda::inline v0_2::distributed::rpc {

namespace {

thread_local Pool* this_threads_pool = nullptr;

}  // namespace

Pool::~Pool() { stop(); }

void Pool::submit(Task task) {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  tasks_.push_back(std::move(task));
  start_if_needed();
}

/// With the lock held.
void Pool::start_if_needed() {
  if (tasks_.empty() || !may_run()) return;
  if (idle_ < tasks_.size() && threads_.size() < kMostThreads) try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // those that there are take it in turn
      if (threads_.empty()) {
        tasks_.pop_back();
        throw DistributedError("rpc: the system has no thread for what a worker is to do");
      }
    }
  changed_.notify_one();
}

void Pool::stop() { stop(std::chrono::milliseconds::max()); }

bool Pool::stop(std::chrono::milliseconds patience) {
  std::vector<std::thread> threads;
  std::deque<Task> dropped;
  {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
    changed_.notify_all();
    const auto deadline = distributed::detail::deadline_after(patience);
    if (!changed_.wait_until(lock, deadline, [&] { return running_ == 0; })) return false;
    threads.swap(threads_);
  }
  for (std::thread& t : threads) t.join();
  return true;
}

size_t Pool::running() const {
  std::lock_guard lock(mutex_);
  return running_;
}

bool Pool::runs_here() const { return this_threads_pool == this; }

bool Pool::idle() const {
  std::lock_guard lock(mutex_);
  return tasks_.empty() && running_ == 0;
}

void Pool::work() {
  this_threads_pool = this;
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [&] { return stopped_ || (!tasks_.empty() && may_run()); });
    --idle_;
    if (tasks_.empty() || stopped_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    --running_;
    if (stopped_)
      changed_.notify_all();
    else
      start_if_needed();
  }
}

Pool::Waiting::Waiting() : pool_(this_threads_pool) {
  if (!pool_) return;
  std::lock_guard lock(pool_->mutex_);
  ++pool_->waiting_;
  pool_->start_if_needed();
}

Pool::Waiting::~Waiting() {
  if (!pool_) return;
  std::lock_guard lock(pool_->mutex_);
  --pool_->waiting_;
}

}  // namespace taeda::inline v0_2::distributed::rpc
