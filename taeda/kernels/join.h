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

/// `in` seen backwards along those dimensions: its last element's place and the strides from there.
struct Backwards {
  Backwards(const Tensor& in, int64_t dims) : strides(in.strides()) {
    for (int64_t d = 0; d < in.dim(); ++d) {
      if (!(dims >> d & 1)) continue;
      start += (in.sizes()[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  }
  DimVector strides;
  int64_t start = 0;
};

template <class F>
void for_each_join_slot(F&& f) {
  visit_slots<&cat_slot, &flip_slot>(f);
}

}  // namespace taeda::inline v0_2
