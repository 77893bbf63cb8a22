// Slots of pooling. Tensors are dense [N, C, ...] with one to three spatial dimensions, all of a
// call contiguous or, with two, all channels-last.
#pragma once

#include "taeda/kernels/memory_order.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The window; a plain value. Only the first `ndim` entries count. Output position o and window
/// position k read the input at o * stride - padding + k * dilation; what lies outside does not
/// count.
struct PoolGeometry {
  int ndim = 2;
  int64_t kernel[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1};
  int64_t padding[3] = {0, 0, 0};
  int64_t dilation[3] = {1, 1, 1};
};

/// How an average divides.
struct AveragePoolGeometry : PoolGeometry {
  /// Padding counts as elements that are zero.
  bool count_include_pad = true;
  /// Divides by this instead of the number of elements; 0 for none.
  int64_t divisor = 0;
};

/// The largest element of each window (NaN is the largest of all). `window` may be undefined; else
/// it gets the winner's row-major position in its window: uint8, or int32 for windows above 256.
inline Slot<void(const Tensor& out, const Tensor& window, const Tensor& in, const PoolGeometry&)>
    max_pool_slot{"max_pool"};
/// Adds each gradient to the winner of its window; all of grad_in is written.
inline Slot<void(const Tensor& grad_in, const Tensor& grad_out, const Tensor& window,
                 const PoolGeometry&)>
    max_pool_backward_slot{"max_pool_backward"};
/// Takes from `in` what stands at the winners' places.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& window, const PoolGeometry&)>
    max_pool_gather_slot{"max_pool_gather"};
/// int64 positions of the winners in their flattened channel; `in` gives the channel's sizes.
inline Slot<void(const Tensor& indices, const Tensor& window, const Tensor& in,
                 const PoolGeometry&)>
    max_pool_indices_slot{"max_pool_indices"};

inline Slot<void(const Tensor& out, const Tensor& in, const AveragePoolGeometry&)> avg_pool_slot{
    "avg_pool"};
inline Slot<void(const Tensor& grad_in, const Tensor& grad_out, const AveragePoolGeometry&)>
    avg_pool_backward_slot{"avg_pool_backward"};

/// Output position o averages the input from floor(o * in / out) to ceil((o + 1) * in / out).
inline Slot<void(const Tensor& out, const Tensor& in)> adaptive_avg_pool_slot{"adaptive_avg_pool"};
inline Slot<void(const Tensor& grad_in, const Tensor& grad_out)> adaptive_avg_pool_backward_slot{
    "adaptive_avg_pool_backward"};
/// The largest elements of such windows, and their int64 positions in the flattened channel.
inline Slot<void(const Tensor& out, const Tensor& indices, const Tensor& in)>
    adaptive_max_pool_slot{"adaptive_max_pool"};

template <class F>
void for_each_pool_slot(F&& f) {
  visit_slots<&max_pool_slot, &max_pool_backward_slot, &max_pool_gather_slot,
              &max_pool_indices_slot, &avg_pool_slot, &avg_pool_backward_slot,
              &adaptive_avg_pool_slot, &adaptive_avg_pool_backward_slot, &adaptive_max_pool_slot>(
      f);
}

}  // namespace taeda
