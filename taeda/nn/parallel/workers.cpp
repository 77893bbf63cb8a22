#include "taeda/nn/parallel/workers.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "taeda/autograd/sequence.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"
#include "taeda/nn/parallel/rethrow.h"
#include "taeda/ops/autocast.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn::parallel {

namespace {

/// What operations of a thread look at besides their arguments.
struct ThreadState {
  static ThreadState of_caller(const std::vector<Device>& devices) {
    ThreadState state;
    for (const Device& d : devices) state.streams.push_back(current_stream(d));
    return state;
  }

  /// Puts a worker into the state. Autocast's casts are forgotten at the end, as at the end of an
  /// outermost guard: the weights may change before the worker is used again.
  class Scope {
   public:
    explicit Scope(const ThreadState& state)
        : state_(state), inference_(state.inference), grad_(state.grad) {
      for (const Stream& s : state.streams) set_current_stream(s);
      AutocastMode::set_state(state.autocast);
      autograd::set_next_sequence_nr(state.sequence_nr);
    }
    ~Scope() {
      for (const Stream& s : state_.streams) set_current_stream(default_stream(s.device()));
      AutocastMode::set_state({});
      policy::clear_cache();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const ThreadState& state_;
    InferenceMode inference_;
    AutoGradMode grad_;
  };

  std::vector<Stream> streams;
  bool grad = GradMode::is_enabled();
  bool inference = InferenceMode::is_enabled();
  AutocastMode::State autocast = AutocastMode::state();
  uint64_t sequence_nr = autograd::next_sequence_nr();
};

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

/// Workers that have nothing to do. A program that runs one model at a time gets the same worker
/// for the same replica every time, with what its thread has cached; replicas that run replicas of
/// their own find others.
class Pool {
 public:
  static Pool& instance() {
    static auto* pool = new Pool;
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

/// One call of run_on_devices: what came of each replica.
class Call {
 public:
  Call(const std::vector<Device>& devices, const std::function<void(size_t)>& job)
      : devices_(devices),
        job_(job),
        state_(ThreadState::of_caller(devices)),
        errors_(devices.size()),
        waiting_for_(devices.size() - 1) {}

  void run_here() {
    run(0);
    note_numbers();
  }
  void run_beside(size_t i) {
    {
      const ThreadState::Scope scope(state_);
      run(i);
      note_numbers();
    }
    std::lock_guard lock(mutex_);
    if (--waiting_for_ == 0) changed_.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_for_ == 0; });
  }
  /// On the calling thread: later nodes get later numbers than all of the replicas'.
  void finish() {
    autograd::set_next_sequence_nr(last_number_);
    for (const std::exception_ptr& e : errors_)
      if (e) std::rethrow_exception(e);
  }

 private:
  void run(size_t i) {
    try {
      const DeviceGuard guard(devices_[i]);
      try {
        job_(i);
      } catch (...) {
        rethrow_from(taeda::detail::concat("in replica ", i, " on device ", devices_[i]));
      }
    } catch (...) {
      errors_[i] = std::current_exception();
    }
  }
  void note_numbers() {
    std::lock_guard lock(mutex_);
    last_number_ = std::max(last_number_, autograd::next_sequence_nr());
  }

  const std::vector<Device>& devices_;
  const std::function<void(size_t)>& job_;
  const ThreadState state_;
  std::vector<std::exception_ptr> errors_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_for_;
  uint64_t last_number_ = 0;
};

}  // namespace

void run_on_devices(const std::vector<Device>& devices, const std::function<void(size_t)>& job) {
  if (devices.empty()) return;
  Call call(devices, job);
  const std::vector<Worker*> workers = Pool::instance().take(devices.size() - 1);
  for (size_t i = 0; i < workers.size(); ++i)
    workers[i]->start([&call, i] { call.run_beside(i + 1); });
  call.run_here();
  call.wait();
  Pool::instance().give_back(workers);
  call.finish();
}

}  // namespace taeda::nn::parallel
