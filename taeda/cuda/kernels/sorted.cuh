// Sorting by unsigned keys, for the operations on order and for writes that may meet.
#pragma once

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

/// Keys and, for each, where it stood: `position` is 0, 1, 2, .. to begin with.
class SortedKeys {
 public:
  SortedKeys(const Context& context, Device device, int64_t n);
  SortedKeys(const SortedKeys&) = delete;

  int64_t size() const { return n_; }
  uint64_t* keys() const { return keys_[now_].as<uint64_t>(); }
  uint32_t* positions() const { return positions_[now_].as<uint32_t>(); }
  /// Sorts by the lowest `bits` bits of the keys; equal ones keep their order.
  void sort(int bits);

 private:
  const Context& context_;
  Device device_;
  int64_t n_;
  Scratch keys_[2], positions_[2];
  int now_ = 0;
};

/// How many bits numbers below n need.
inline int bits_below(int64_t n) {
  int bits = 0;
  while (bits < 63 && (int64_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace taeda::gpu
