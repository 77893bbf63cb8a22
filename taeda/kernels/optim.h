// Kernels over whole lists of parameters: one call updates them all. The formulas are those of the
// optimizers' papers as documented in optim/*.h, in PyTorch's order of operations.
#pragma once

#include <cmath>

#include "taeda/kernels/param_list.h"
#include "taeda/kernels/slot.h"
#include "taeda/kernels/step_formulas.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

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
  double eps, weight_decay, lr_decay;
};
/// How a gradient scaler's scale moves. It grows after `interval` iterations whose gradients were
/// finite; where growing would leave the range of float32 it stays.
struct ScaleFactors {
  double growth, backoff, interval;
  TAEDA_HD void next(double& scale, double& tracker, bool found_inf) const {
    if (found_inf) {
      scale *= backoff;
      tracker = 0;
    } else if (++tracker == interval) {
      const double grown = scale * growth;
      if (grown <= 3.4028234663852886e38) scale = grown;
      tracker = 0;
    }
  }
};
/// A gradient scaler's state on its device.
class ScaleUpdate {
 public:
  /// `state`: scale, growth tracker. `factors`: growth factor, backoff factor, growth interval.
  /// `found_inf`: not 0 after a gradient that was not finite. Throws Error unless all are on one
  /// device.
  ScaleUpdate(const Numbers& state, const Numbers& factors, const Numbers& found_inf)
      : state_(state), factors_(factors), found_inf_(found_inf) {
    state.check("the scale of gradients", device(), 2);
    factors.check("the factors of a gradient scale", device(), 3);
    found_inf.check("whether gradients are finite", device(), 1);
  }
  Device device() const { return state_.device(); }
  template <class F>
  void for_each_extent(F&& f) const {
    for (const Numbers* n : {&state_, &factors_, &found_inf_}) n->for_each_extent(f);
  }
  void rebase(ptrdiff_t delta) {
    for (Numbers* n : {&state_, &factors_, &found_inf_}) n->rebase(delta);
  }
  /// The scale of the next iteration.
  TAEDA_HD void run() const {
    ScaleFactors{factors_[0], factors_[1], factors_[2]}.next(state_[0], state_[1],
                                                             found_inf_[0] != 0);
  }

 private:
  Numbers state_, factors_, found_inf_;
};
/// What Adam takes from the parameter's own step count: lr / (1 - beta1^t) and sqrt(1 - beta2^t).
/// With `skip` the count lacks the steps that were left out.
struct AdamNumbers {
  double rate, root;
  TAEDA_HD AdamNumbers(const AdamStep& s, const ParamRef& r, const double* skip)
      : rate(r.number_a()), root(r.number_b()) {
    if (!skip) return;
    const double steps = r.live()[3] - skip[1];
    rate = r.live()[2] / (1 - std::pow(s.beta1, steps));
    root = std::sqrt(1 - std::pow(s.beta2, steps));
  }
};
/// Likewise Adagrad's learning rate.
TAEDA_HD inline double adagrad_rate(const AdagradStep& s, const ParamRef& r, const double* skip) {
  return skip ? r.live()[2] / (1 + (r.live()[3] - skip[1] - 1) * s.lr_decay) : r.number_a();
}

/// state: momentum buffer (nullptr without momentum). a: 1 on the first step, when the buffer takes
/// the gradient as it is.
inline Slot<void(const ParamList&, const SgdStep&)> sgd_slot{"sgd"};
/// state: first moment, second moment, largest second moment (with amsgrad).
inline Slot<void(const ParamList&, const AdamStep&)> adam_slot{"adam"};
/// state: mean square, mean (when centred), momentum buffer (with momentum).
inline Slot<void(const ParamList&, const RmspropStep&)> rmsprop_slot{"rmsprop"};
/// state: sum of squares. a: learning rate of this step, lr / (1 + (t - 1) * lr_decay).
inline Slot<void(const ParamList&, const AdagradStep&)> adagrad_slot{"adagrad"};
/// A step whose formula (`step_formulas.h`) goes element by element; state: the formula's. In a
/// graph each parameter's `live` are its numbers.
inline Slot<void(const ParamList&, const StepValues&)> formula_step_slot{"formula_step"};

/// Writes the p-norm over all elements of all gradients (p may be infinity) into `out`, one double.
/// Blocks of fixed size are summed in double: the result does not depend on the number of threads.
inline Slot<void(const Tensor& out, const ParamList&, double p)> grad_norm_slot{"grad_norm"};
/// Multiplies every gradient by `factor`, in a graph by the number a of its `live`; the list's
/// parameters are the gradients.
inline Slot<void(const ParamList&, double factor)> grad_scale_slot{"grad_scale"};
/// Likewise, and sets `found_inf`, a float32 number on the list's device, to 1 if one of the
/// elements was not finite.
inline Slot<void(const ParamList&, double factor, const Tensor& found_inf)> unscale_slot{"unscale"};
/// Clamps every gradient to [-limit, limit]; the list's parameters are the gradients.
inline Slot<void(const ParamList&, double limit)> grad_clamp_slot{"grad_clamp"};

/// Moves a gradient scaler's state on after an iteration.
inline Slot<void(const ScaleUpdate&)> scale_update_slot{"scale_update"};

/// Likewise a scale (float32) and its growth tracker (int32), each a tensor of one number, by
/// whether a third one (float32) is not 0.
inline Slot<void(const Tensor& scale, const Tensor& tracker, const Tensor& found_inf,
                 const ScaleFactors&)>
    scale_tensors_slot{"scale_tensors"};

template <class F>
void for_each_optim_slot(F&& f) {
  visit_slots<&sgd_slot, &adam_slot, &rmsprop_slot, &adagrad_slot, &formula_step_slot,
              &grad_norm_slot, &grad_scale_slot, &unscale_slot, &grad_clamp_slot,
              &scale_update_slot, &scale_tensors_slot>(f);
}

}  // namespace taeda::inline v0_2
