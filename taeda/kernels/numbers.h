// A few float64 numbers in a device's memory, as kernels take them.
#pragma once

#include "taeda/base/macros.h"
#include "taeda/device/graph.h"
#include "taeda/tensor/tensor.h"

namespace taeda {

/// Where some numbers lie, on which device, and how many there are. Made of something that owns
/// them, never of an address. A plain value, copyable into a queue.
class Numbers {
 public:
  /// None: false in a condition.
  Numbers() = default;
  /// Those of a contiguous float64 tensor. Throws Error for another one.
  explicit Numbers(const Tensor& t);
  Numbers(const GraphNumbers& n)
      : device_(n.device()), data_(n.data()), count_(static_cast<int64_t>(n.count())) {}

  TAEDA_HD explicit operator bool() const { return data_ != nullptr; }
  TAEDA_HD double* data() const { return data_; }
  TAEDA_HD double& operator[](int64_t i) const { return data_[i]; }
  Device device() const { return device_; }
  int64_t count() const { return count_; }
  /// Throws Error, naming `what`, unless there are at least `count` numbers on `device`.
  void check(const char* what, Device device, int64_t count) const;

  /// Calls f(name, index, address, bytes) for the memory.
  template <class F>
  void for_each_extent(F&& f) const {
    if (data_) f("numbers", 0, data_, count_ * static_cast<int64_t>(sizeof(double)));
  }
  /// Moves the address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    if (data_) data_ += delta / static_cast<ptrdiff_t>(sizeof(double));
  }

 private:
  Device device_;
  double* data_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace taeda
