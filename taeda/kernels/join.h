// Slots that move whole elements around: concatenation, reversal.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The inputs one after the other along `dim` of the contiguous `out`. Inputs have out's dtype, any
/// strides, and fill `out` exactly.
inline Slot<void(const Tensor& out, TensorList inputs, int64_t dim)> cat_slot{"cat"};

/// out = in, read backwards along the dimensions whose bit is set in `dims`. `out` is contiguous.
inline Slot<void(const Tensor& out, const Tensor& in, int64_t dims)> flip_slot{"flip"};

template <class F>
void for_each_join_slot(F&& f) {
  visit_slots<&cat_slot, &flip_slot>(f);
}

}  // namespace taeda
