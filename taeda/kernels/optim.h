// Kernels over whole lists of parameters: one call updates them all. The formulas are those of the
// optimizers' papers as documented in optim/*.h, in PyTorch's order of operations.
#pragma once

#include <vector>

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda {

/// One parameter: addresses on the list's device, all with the same memory order and dtype.
struct ParamRef {
  char* param;
  const char* grad;
  char* state[3];  ///< what the slot says; unused ones are nullptr
  int64_t numel;
  double a = 0, b = 0;  ///< numbers that depend on the parameter's own step count
};

/// Parameters of one dtype on one device. A plain value, copyable into a queue.
struct ParamList {
  Device device;
  ScalarType dtype = kFloat;
  std::vector<ParamRef> items;

  /// Moves every address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    const auto move = [delta](auto& p) { p = p ? p + delta : p; };
    for (ParamRef& r : items) {
      move(r.param);
      move(r.grad);
      for (char*& s : r.state) move(s);
    }
  }
};

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
