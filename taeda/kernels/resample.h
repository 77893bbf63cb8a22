// The slot of resampling: a sparse matrix times one dimension of a tensor.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// out[o, i, k] = the sum over j from starts[i] to starts[i + 1] of weights[j] in[o, rows[j], k],
/// in this order, rounded once. out (outer, m, inner), in (outer, n, inner), starts (m + 1) and
/// rows int32, weights in the computing dtype; all contiguous.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& starts, const Tensor& rows,
                 const Tensor& weights)>
    resample_slot{"resample"};

template <class F>
void for_each_resample_slot(F&& f) {
  visit_slots<&resample_slot>(f);
}

}  // namespace taeda::inline v0_2
