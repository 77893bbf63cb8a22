// Slots of softmax. All tensors are contiguous, seen as (outer, n, inner); the sum runs over n.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

struct SoftmaxShape {
  int64_t outer, n, inner;
};

using SoftmaxSlot = Slot<void(const Tensor& out, const Tensor& in, SoftmaxShape shape)>;
inline SoftmaxSlot softmax_slot{"softmax"};
inline SoftmaxSlot log_softmax_slot{"log_softmax"};

/// Gradient of the input from the output's and the output.
using SoftmaxBackwardSlot =
    Slot<void(const Tensor& grad_in, const Tensor& grad, const Tensor& out, SoftmaxShape shape)>;
inline SoftmaxBackwardSlot softmax_backward_slot{"softmax_backward"};
inline SoftmaxBackwardSlot log_softmax_backward_slot{"log_softmax_backward"};

template <class F>
void for_each_softmax_slot(F&& f) {
  visit_slots<&softmax_slot, &log_softmax_slot, &softmax_backward_slot, &log_softmax_backward_slot>(
      f);
}

}  // namespace taeda
