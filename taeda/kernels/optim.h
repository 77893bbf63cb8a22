// Kernels over whole lists of parameters: one call updates them all. The formulas are those of the
// optimizers' papers as documented in optim/*.h, in PyTorch's order of operations.
#pragma once

#include "taeda/kernels/param_list.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda {

struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
};
/// `decoupled`: the weight decay of AdamW. a: lr / (1 - beta1^t); b: sqrt(1 - beta2^t).
struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay;
  bool decoupled, amsgrad, maximize;
};
struct RmspropStep {
  double lr, alpha, eps, weight_decay, momentum;
  bool centered;
};
struct AdagradStep {
  double eps, weight_decay;
};

/// state: momentum buffer (nullptr without momentum). a: 1 on the first step, when the buffer takes
/// the gradient as it is.
inline Slot<void(const ParamList&, const SgdStep&)> sgd_slot{"sgd"};
/// state: first moment, second moment, largest second moment (with amsgrad).
inline Slot<void(const ParamList&, const AdamStep&)> adam_slot{"adam"};
/// state: mean square, mean (when centred), momentum buffer (with momentum).
inline Slot<void(const ParamList&, const RmspropStep&)> rmsprop_slot{"rmsprop"};
/// state: sum of squares. a: learning rate of this step.
inline Slot<void(const ParamList&, const AdagradStep&)> adagrad_slot{"adagrad"};

/// Writes the p-norm over all elements of all gradients (p may be infinity) into `out`, one double.
/// Blocks of fixed size are summed in double: the result does not depend on the number of threads.
inline Slot<void(const Tensor& out, const ParamList&, double p)> grad_norm_slot{"grad_norm"};
/// Multiplies every gradient by `factor`; the list's `param` addresses are the gradients.
inline Slot<void(const ParamList&, double factor)> grad_scale_slot{"grad_scale"};
/// Clamps every gradient to [-limit, limit]; the list's `param` addresses are the gradients.
inline Slot<void(const ParamList&, double limit)> grad_clamp_slot{"grad_clamp"};

template <class F>
void for_each_optim_slot(F&& f) {
  f.template operator()<&sgd_slot>();
  f.template operator()<&adam_slot>();
  f.template operator()<&rmsprop_slot>();
  f.template operator()<&adagrad_slot>();
  f.template operator()<&grad_norm_slot>();
  f.template operator()<&grad_scale_slot>();
  f.template operator()<&grad_clamp_slot>();
}

}  // namespace taeda
