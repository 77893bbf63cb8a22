// One simulated device: memory, streams, the error that waits to be reported, links to its peers.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

#include "taeda/base/tracing.h"
#include "taeda/device/backend.h"
#include "taeda/sim/memory.h"
#include "taeda/sim/predictor.h"
#include "taeda/sim/queue.h"

namespace taeda::inline v0_2::sim {

/// What a copy to a peer waits for.
struct Link {
  std::shared_ptr<Ticket> gate;
  std::chrono::nanoseconds delay{};
};

/// Never destroyed once made: streams and events refer to it.
class SimDevice {
 public:
  SimDevice(Device device, size_t memory);

  Device device() const { return device_; }
  Memory& memory() { return *memory_; }
  const Memory& memory() const { return *memory_; }
  /// Gives the device other memory. Throws Error while the present one is in use.
  void resize(size_t memory);

  /// Whether tasks are run. If not they are dropped, and nothing has a value.
  bool computes() const { return computes_.load(std::memory_order_relaxed); }
  void set_computes(bool on) { computes_ = on; }

  Queue& queue(StreamId id);
  StreamId new_stream(int priority);
  int priority(StreamId id) const;
  /// Calls `f(Queue&)` for every stream that was used.
  template <class F>
  void for_each_queue(F&& f) {
    for (auto& q : queues_)
      if (Queue* queue = q.load(std::memory_order_acquire)) f(*queue);
  }
  void drain() {
    for_each_queue([](Queue& q) { q.drain(); });
  }
  /// Throws Error, and spoils the capture, if the stream (-1: any stream) is being captured.
  void check_not_capturing(StreamId stream, const char* what);
  /// Queues the task, records it, or drops it where nothing is computed; waits for it under
  /// TAEDA_LAUNCH_BLOCKING.
  void launch(StreamId stream, std::unique_ptr<Task> task);
  /// What the stream's next task costs: moves its clock or, while it is captured, goes to the
  /// recording. Nothing without a cost model.
  void charge(StreamId stream, const Cost& cost);
  /// Throws the first error of a kernel since the last report.
  void report_error();

  Link link_to(int peer);
  void set_link(int peer, Link link);

 private:
  static constexpr size_t kMaxStreams = 256;

  void check_stream(StreamId id) const;

  const Device device_;
  std::unique_ptr<Memory> memory_;
  std::atomic<bool> computes_{true};
  std::mutex mutex_;
  std::array<std::atomic<Queue*>, kMaxStreams> queues_ = {};
  std::array<std::atomic<int>, kMaxStreams> priorities_ = {};
  std::atomic<StreamId> next_stream_{1};
  std::exception_ptr error_;
  std::map<int, Link> links_;
};

/// A task that runs `fn`, names the kernel in what it throws, and tells when it ran.
template <class F>
class KernelTask final : public Task {
 public:
  KernelTask(const char* name, Device device, F fn)
      : name_(name), device_(device), fn_(std::move(fn)) {}
  void queued(int64_t stream) override {
    stream_ = stream;
    launch_ = tracing::launched(name_, device_, stream);
  }
  void run() override;
  const char* name() const override { return name_; }

 private:
  const char* name_;
  Device device_;
  int64_t stream_ = 0;
  uint64_t launch_ = 0;
  F fn_;
};

/// Rethrows what is being handled, as an Error that names kernel and device. Keeps the Error's
/// type.
[[noreturn]] void rethrow_named(const char* kernel, Device device);

template <class F>
void KernelTask<F>::run() {
  const tracing::DeviceWork work(launch_, name_, device_, stream_);
  try {
    fn_();
  } catch (...) {
    rethrow_named(name_, device_);
  }
}

/// Whether TAEDA_LAUNCH_BLOCKING asks for kernels to run before their launch returns.
bool launch_blocking();

/// The simulated device, which must exist. Throws Error for another kind of device.
SimDevice& sim_device(Device device);

}  // namespace taeda::sim
