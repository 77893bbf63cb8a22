#include "taeda/distributed/group/work.h"

#include <atomic>
#include <utility>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed {

namespace {
constexpr std::chrono::milliseconds kWatchInterval{50};

std::atomic<int64_t> nanoseconds_waited{0};
std::atomic<bool (*)()> watch_of_waits{nullptr};
thread_local Work* completed_here = nullptr;

}  // namespace

void watch_waits(bool (*watch)()) { watch_of_waits = watch; }

bool detail::is_watched() {
  bool (*const watch)() = watch_of_waits;
  return watch && watch();
}

Work* detail::completing() { return completed_here; }

std::chrono::nanoseconds time_waited() { return std::chrono::nanoseconds(nanoseconds_waited); }

detail::Waiting::~Waiting() {
  nanoseconds_waited += (std::chrono::steady_clock::now() - since_) / std::chrono::nanoseconds(1);
}

Work::Work(Fingerprint what, std::vector<Tensor> result)
    : what_(std::move(what)), result_(std::move(result)) {}

bool Work::wait(std::optional<std::chrono::milliseconds> timeout) {
  if (!process_.here()) process_.check("Work::wait", what_.to_string());
  {
    const detail::Waiting waiting;
    std::unique_lock lock(mutex_);
    const auto completed = [&] { return completed_ || queued_; };
    if (!timeout)
      wait_watched(lock);
    else
      TAEDA_CHECK_AS(DistributedError, done_.wait_for(lock, *timeout, completed),
                     "Work::wait: ", what_.to_string(), " did not end within ", timeout->count(),
                     " ms");
    if (error_) std::rethrow_exception(error_);
  }
  for (const Event& event : arrived_) event.wait(current_stream(event.device()));
  return true;
}

/// Until it is completed or queued. The watch is called without the lock.
void Work::wait_watched(std::unique_lock<std::mutex>& lock) const {
  const auto completed = [&] { return completed_ || queued_; };
  while (!done_.wait_for(lock, kWatchInterval, completed)) {
    lock.unlock();
    const bool watched = detail::is_watched();
    lock.lock();
    if (watched) continue;
    done_.wait(lock, completed);
    return;
  }
}

bool Work::is_completed() const {
  std::lock_guard lock(mutex_);
  return completed_;
}

bool Work::is_success() const {
  std::lock_guard lock(mutex_);
  return completed_ && !error_;
}

std::exception_ptr Work::exception() const {
  std::lock_guard lock(mutex_);
  return error_;
}

int Work::source_rank() const {
  std::lock_guard lock(mutex_);
  TAEDA_CHECK(completed_ && !error_ && what_.kind == Fingerprint::Kind::Recv,
              "source_rank() may only be called on work objects that correspond to a completed "
              "recv, not on ",
              what_.to_string());
  return source_rank_;
}

void Work::on_completion(std::function<void(Work&)> f) {
  {
    std::lock_guard lock(mutex_);
    if (!completed_) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  call(f);
}

void Work::call(const std::function<void(Work&)>& f) {
  struct Completing {
    explicit Completing(Work* work) : before(std::exchange(completed_here, work)) {}
    ~Completing() { completed_here = before; }
    Work* const before;
  } const here(this);
  f(*this);
}

void Work::let_wait() {
  {
    std::lock_guard lock(mutex_);
    queued_ = true;
  }
  done_.notify_all();
}

std::vector<std::function<void(Work&)>> Work::finish(std::exception_ptr error) {
  std::vector<std::function<void(Work&)>> callbacks;
  {
    std::lock_guard lock(mutex_);
    completed_ = true;
    error_ = std::move(error);
    callbacks.swap(callbacks_);
  }
  done_.notify_all();
  return callbacks;
}

}  // namespace taeda::inline v0_2::distributed
