// Counts what tests want to be few: copies, and allocations.
#pragma once

#include "taeda/device/allocator.h"
#include "taeda/kernels/copy.h"

namespace taeda::testing {

/// Counts what is copied on a device type while it lives.
class CopyCount {
 public:
  explicit CopyCount(DeviceType type) : type_(type) {
    real_ = copy_slot.get(type);
    copies_ = 0;
    copy_slot.set(type, &copy);
  }
  ~CopyCount() { copy_slot.set(type_, real_); }
  CopyCount(const CopyCount&) = delete;
  CopyCount& operator=(const CopyCount&) = delete;
  int get() const { return copies_; }

 private:
  static void copy(const Iter& it) {
    ++copies_;
    real_(it);
  }
  static inline void (*real_)(const Iter&) = nullptr;
  static inline int copies_ = 0;
  DeviceType type_;
};

/// Counts blocks that are allocated on a device while it lives. On the CPU, tensors of more than
/// 512 bytes have one.
class AllocationCount {
 public:
  explicit AllocationCount(Device device)
      : device_(device), before_(allocator::memory_stats(device).allocations) {}
  int64_t get() const { return allocator::memory_stats(device_).allocations - before_; }

 private:
  Device device_;
  int64_t before_;
};

}  // namespace taeda::testing
