#include "taeda/parallel/workers.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "taeda/autograd/sequence.h"
#include "taeda/base/error.h"
#include "taeda/base/rethrow.h"
#include "taeda/device/registry.h"
#include "taeda/ops/autocast.h"
#include "taeda/tensor/thread_state.h"

namespace taeda::inline v0_2::nn::parallel {

namespace {

/// One call of run_on_devices: what came of each replica.
class Call {
 public:
  Call(const std::vector<Device>& devices, const std::function<void(size_t)>& job)
      : devices_(devices), job_(job), errors_(devices.size()) {}

  /// The nodes of all replicas count from the same number on: they run backward side by side.
  void run(size_t i) {
    autograd::set_next_sequence_nr(first_number_);
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
    // As at the end of an outermost guard: the weights may change before the thread works again.
    if (i > 0) policy::clear_cache();
    std::lock_guard lock(mutex_);
    last_number_ = std::max(last_number_, autograd::next_sequence_nr());
  }
  /// On the calling thread, whose later nodes get later numbers than all of the replicas'.
  void finish() const {
    autograd::set_next_sequence_nr(last_number_);
    for (const std::exception_ptr& e : errors_)
      if (e) std::rethrow_exception(e);
  }

 private:
  const std::vector<Device>& devices_;
  const std::function<void(size_t)>& job_;
  const uint64_t first_number_ = autograd::next_sequence_nr();
  std::vector<std::exception_ptr> errors_;
  std::mutex mutex_;
  uint64_t last_number_ = 0;
};

}  // namespace

void run_on_devices(const std::vector<Device>& devices, const std::function<void(size_t)>& job) {
  if (devices.empty()) return;
  Call call(devices, job);
  run_side_by_side(devices.size(), [&call](size_t i) { call.run(i); });
  call.finish();
}

}  // namespace taeda::nn::parallel
