// Sorting by unsigned keys, for the operations on order and for writes that may meet.
#pragma once

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

/// Unsigned keys, of 32 bits where these are enough: sorting takes as long as its bytes.
struct KeyArray {
  void* data = nullptr;
  bool wide = true;

  __device__ uint64_t operator[](int64_t i) const {
    return wide ? static_cast<const uint64_t*>(data)[i] : static_cast<const uint32_t*>(data)[i];
  }
  __device__ void set(int64_t i, uint64_t key) const {
    if (wide)
      static_cast<uint64_t*>(data)[i] = key;
    else
      static_cast<uint32_t*>(data)[i] = static_cast<uint32_t>(key);
  }
  __device__ uint64_t largest() const { return wide ? ~uint64_t{0} : ~uint32_t{0}; }
};

/// Keys of at most `bits` bits and, for each, where it stood: positions are 0, 1, 2, .. to begin
/// with; or, where the caller fills them in as `carried`, 32 bits of another kind.
class SortedKeys {
 public:
  SortedKeys(const Context& context, Device device, int64_t n, int bits, bool carried = false);
  SortedKeys(const SortedKeys&) = delete;

  int64_t size() const { return n_; }
  KeyArray keys() const { return {keys_[now_].as<void>(), wide_}; }
  uint32_t* positions() const { return positions_[now_].as<uint32_t>(); }
  /// Sorts by the lowest `bits` bits of the keys; equal ones keep their order.
  void sort(int bits);

 private:
  template <class K>
  void sort_by(int bits);

  const Context& context_;
  Device device_;
  int64_t n_;
  bool wide_;
  Scratch keys_[2], positions_[2];
  int now_ = 0;
};

/// How many bits numbers below n need.
inline int bits_below(int64_t n) {
  int bits = 0;
  while (bits < 63 && (int64_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace taeda::inline v0_2::gpu
