#include "taeda/log/event_queue.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/base/warning.h"

namespace taeda::inline v0_2::logging {

namespace {
/// Clocks overflow beyond some centuries.
constexpr double kLongestWait = 1e8;

size_t checked_queue(int64_t max_queue) {
  TAEDA_CHECK_VALUE(max_queue > 0, "max_queue must be positive, got ", max_queue);
  return static_cast<size_t>(max_queue);
}

double checked_seconds(double seconds) {
  TAEDA_CHECK_VALUE(seconds > 0, "flush_secs must be positive, got ", seconds);
  return std::min(seconds, kLongestWait);
}
}  // namespace

EventQueue::EventQueue(std::string path, int64_t max_queue, double flush_secs)
    : file_(std::move(path)),
      max_queue_(checked_queue(max_queue)),
      flush_every_(checked_seconds(flush_secs)),
      thread_([this] { run(); }) {}

EventQueue::~EventQueue() {
  try {
    close();
  } catch (const std::exception& e) {
    taeda::detail::warn_aside(WarningKind::Runtime, e.what());
  }
}

void EventQueue::add(Make make) {
  std::unique_lock lock(mutex_);
  TAEDA_CHECK(!stop_, "cannot write ", path(), ": it is closed");
  room_.wait(lock, [&] { return waiting_.size() < max_queue_; });
  waiting_.push_back(std::move(make));
  ++added_;
  work_.notify_one();
}

void EventQueue::flush() {
  std::unique_lock lock(mutex_);
  if (thread_.joinable()) {
    const uint64_t mine = wanted_ = added_;
    work_.notify_one();
    flushed_.wait(lock, [&] { return written_ >= mine; });
  }
  throw_failure();
}

void EventQueue::close() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      wanted_ = added_;
    }
    work_.notify_one();
    thread_.join();
  }
  const std::lock_guard lock(mutex_);
  throw_failure();
}

void EventQueue::throw_failure() {
  if (failures_ == 0) return;
  const int64_t more = failures_ - 1;
  failures_ = 0;
  throw Error(more == 0 ? failure_
                        : taeda::detail::concat(failure_, "; ", more, " more failures after it"));
}

void EventQueue::note_failure(const std::string& what) {
  if (failures_++ == 0) failure_ = what;
}

void EventQueue::make_waiting(std::unique_lock<std::mutex>& lock) {
  while (!waiting_.empty() && file_.pending() < max_queue_) {
    const Make make = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    room_.notify_one();
    std::string failure;
    try {
      file_.append(make());
    } catch (const std::exception& e) {
      failure = e.what();
    }
    lock.lock();
    ++made_;
    if (!failure.empty()) note_failure(failure);
  }
}

void EventQueue::write_out(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  std::string failure;
  try {
    file_.write_out();
  } catch (const std::exception& e) {
    failure = e.what();
  }
  lock.lock();
  written_ = made_;
  if (!failure.empty()) note_failure(failure);
}

void EventQueue::run() {
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::duration_cast<Clock::duration>(flush_every_);
  auto deadline = Clock::now() + period;
  std::unique_lock lock(mutex_);
  while (!stop_ || written_ < added_) {
    work_.wait_until(lock, deadline,
                     [&] { return !waiting_.empty() || written_ < wanted_ || stop_; });
    make_waiting(lock);
    if (file_.pending() >= max_queue_ || written_ < wanted_ || Clock::now() >= deadline) {
      write_out(lock);
      deadline = Clock::now() + period;
    }
    flushed_.notify_all();
  }
}

}  // namespace taeda::logging
