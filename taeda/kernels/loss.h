// Slots of the losses over classes. Tensors are contiguous; the input is seen as (outer, n, inner)
// with n classes, targets (int64) and unreduced losses as (outer, inner).
#pragma once

#include "taeda/kernels/softmax.h"

namespace taeda::inline v0_2 {

struct ClassLoss {
  SoftmaxShape shape;
  int64_t ignore_index;
  Reduction reduction;
  bool logits;  // otherwise the input holds log-probabilities
};

/// loss = -weight[t] log p[t], 0 where t is ignored; reduced as asked. `total_weight` gets the sum
/// of the weights used. `log_sum` (outer, inner) gets log(sum exp(x)) of logits. `weight` and,
/// unless they are wanted, `log_sum` may be undefined; they and `total_weight` are of the type that
/// the input's dtype is computed in. Throws IndexError: "Target 10 is out of bounds.".
inline Slot<void(const Tensor& loss, const Tensor& total_weight, const Tensor& log_sum,
                 const Tensor& in, const Tensor& target, const Tensor& weight, ClassLoss spec)>
    class_loss_slot{"nll_loss"};
inline Slot<void(const Tensor& grad_in, const Tensor& grad, const Tensor& total_weight,
                 const Tensor& log_sum, const Tensor& in, const Tensor& target,
                 const Tensor& weight, ClassLoss spec)>
    class_loss_backward_slot{"nll_loss_backward"};

template <class F>
void for_each_loss_slot(F&& f) {
  visit_slots<&class_loss_slot, &class_loss_backward_slot>(f);
}

}  // namespace taeda
