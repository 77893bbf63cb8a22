#include "taeda/cuda/fault.h"

#include <atomic>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/cuda/context.h"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kMaxDevices = 128;  // what Device's index can name
constinit std::atomic<Fault*> faults[kMaxDevices] = {};

}  // namespace

Fault* fault_of(int device) {
  if (Fault* f = faults[device].load(std::memory_order_acquire)) return f;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!faults[device].load(std::memory_order_relaxed)) {
    const RelaxedCapture relaxed;
    void* p = nullptr;  // with unified addressing the device uses the same address
    check(cudaHostAlloc(&p, sizeof(Fault), cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating the device's error report");
    faults[device].store(new (p) Fault{}, std::memory_order_release);
  }
  return faults[device].load(std::memory_order_relaxed);
}

void report_fault(int device, const char* op) {
  Fault* note = faults[device].load(std::memory_order_acquire);
  if (!note) return;
  const auto kind =
      static_cast<FaultKind>(std::atomic_ref(note->kind).load(std::memory_order_acquire));
  if (kind == FaultKind::None) return;
  const Fault fault = *note;
  std::atomic_ref(note->kind).store(0);
  const std::string where =
      op ? detail::concat("\n(raised by kernel '", op, "' on cuda:", device, ")")
         : detail::concat("\n(raised by a kernel on cuda:", device,
                          launch_blocking()
                              ? ")"
                              : "; kernels run asynchronously: TAEDA_LAUNCH_BLOCKING=1 reports "
                                "errors where they happen)");
  switch (kind) {
    case FaultKind::Target:
      throw IndexError(detail::concat("Target ", fault.value, " is out of bounds.", where));
    case FaultKind::IndexInDim:
      throw IndexError(detail::concat("index ", fault.value, " is out of bounds for dimension ",
                                      fault.dim, " with size ", fault.size, where));
    default: throw IndexError("index out of range in self" + where);
  }
}

}  // namespace taeda::gpu
