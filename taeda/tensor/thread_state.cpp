#include "taeda/tensor/thread_state.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "taeda/base/tracing.h"
#include "taeda/base/warning.h"
#include "taeda/device/host_clock.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2 {

ThreadState ThreadState::here() {
  ThreadState out;
  out.grad = GradMode::is_enabled();
  out.inference = InferenceMode::is_enabled();
  out.recomputing = RecomputeMode::is_enabled();
  out.autocast = AutocastMode::state();
  out.saved_hooks = SavedHooksMode::innermost();
  out.num_threads = NumThreadsGuard::limit();
  out.streams = current_streams();
  for (int t = 0; t < kDeviceTypes; ++t)
    out.devices[t] = current_device(static_cast<DeviceType>(t));
  return out;
}

ThreadState::Scope::Scope(const ThreadState& state)
    : streams_(current_streams()),
      autocast_(AutocastMode::state()),
      recomputing_(RecomputeMode::is_enabled()),
      saved_hooks_(SavedHooksMode::innermost()),
      inference_(state.inference),
      grad_(state.grad),
      threads_(state.num_threads) {
  for (int t = 0; t < kDeviceTypes; ++t) {
    const auto type = static_cast<DeviceType>(t);
    devices_[t] = current_device(type);
    if (devices_[t] != state.devices[t]) set_device(Device(type, state.devices[t]));
  }
  set_current_streams(state.streams);
  AutocastMode::set_state(state.autocast);
  RecomputeMode::set_enabled(state.recomputing);
  SavedHooksMode::set_innermost(state.saved_hooks);
}

ThreadState::Scope::~Scope() {
  SavedHooksMode::set_innermost(saved_hooks_);
  RecomputeMode::set_enabled(recomputing_);
  AutocastMode::set_state(autocast_);
  set_current_streams(streams_);
  for (int t = 0; t < kDeviceTypes; ++t) {
    const auto type = static_cast<DeviceType>(t);
    if (current_device(type) != devices_[t]) set_device(Device(type, devices_[t]));
  }
}

namespace {

/// A thread that waits for work. It is never joined: what it waits on lives as long as the process.
class Worker {
 public:
  Worker() {
    std::thread([this] { loop(); }).detach();
  }
  void start(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_ = std::move(work);
    changed_.notify_one();
  }

 private:
  [[noreturn]] void loop() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return work_ != nullptr; });
        work.swap(work_);
      }
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
};

/// Workers that have nothing to do. A program that does one thing at a time gets the same worker
/// for the same part every time, with what its thread has cached; calls within calls find others.
class WorkerPool {
 public:
  static WorkerPool& instance() {
    static auto* pool = new WorkerPool;
    return *pool;
  }
  std::vector<Worker*> take(size_t n) {
    std::lock_guard lock(mutex_);
    while (idle_.size() < n) idle_.push_back(all_.emplace_back(new Worker).get());
    std::vector<Worker*> out(idle_.begin(), idle_.begin() + static_cast<ptrdiff_t>(n));
    idle_.erase(idle_.begin(), idle_.begin() + static_cast<ptrdiff_t>(n));
    return out;
  }
  void give_back(const std::vector<Worker*>& workers) {
    std::lock_guard lock(mutex_);
    idle_.insert(idle_.begin(), workers.begin(), workers.end());
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> all_;
  std::vector<Worker*> idle_;
};

/// Where the caller waits for its workers, and the latest of their clocks.
class Meeting {
 public:
  explicit Meeting(size_t expected) : expected_(expected) {}
  void arrive() {
    std::lock_guard lock(mutex_);
    clock_ = std::max(clock_, host_clock());
    if (--expected_ == 0) all_here_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    all_here_.wait(lock, [this] { return expected_ == 0; });
    set_host_clock(std::max(clock_, host_clock()));
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  size_t expected_;
  int64_t clock_ = 0;
};

}  // namespace

void run_side_by_side(size_t n, const std::function<void(size_t)>& job) {
  if (n == 0) return;
  if (n == 1) return job(0);
  const ThreadState state = ThreadState::here();
  WarningHandler* const handler = Warning::get_warning_handler();
  const int64_t begin = host_clock();
  const tracing::Span* const span = tracing::innermost();
  Meeting meeting(n - 1);
  const std::vector<Worker*> workers = WorkerPool::instance().take(n - 1);
  for (size_t i = 1; i < n; ++i)
    workers[i - 1]->start([&, i] {
      {
        const ThreadState::Scope scope(state);
        const WarningHandlerGuard warnings(handler);  // the caller waits, and its scopes with it
        tracing::set_innermost(span);
        set_host_clock(begin);
        job(i);
        tracing::set_innermost(nullptr);
      }
      meeting.arrive();
    });
  job(0);
  meeting.wait();
  WorkerPool::instance().give_back(workers);
}

}  // namespace taeda
