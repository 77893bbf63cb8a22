// Kernels over whole lists of parameters: one call updates them all. The formulas are those of the
// optimizers' papers as documented in optim/*.h, in PyTorch's order of operations.
#pragma once

#include "taeda/kernels/param_list.h"
#include "taeda/kernels/slot.h"
#include "taeda/kernels/step_formulas.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

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
/// A step whose formula (`step_formulas.h`) goes element by element; state: the formula's. In a
/// graph each parameter's `live` are its numbers.
inline Slot<void(const ParamList&, const StepValues&)> formula_step_slot{"formula_step"};

/// Writes the p-norm over all elements of all gradients (p may be infinity) into `out`, one double.
/// Blocks of fixed size are summed in double: the result does not depend on the number of threads.
inline Slot<void(const Tensor& out, const ParamList&, double p)> grad_norm_slot{"grad_norm"};
/// Multiplies every gradient by `factor`, in a graph by the first of its `live`; the list's
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
  visit_slots<&formula_step_slot, &grad_norm_slot, &grad_scale_slot, &unscale_slot,
              &grad_clamp_slot, &scale_update_slot, &scale_tensors_slot>(f);
}

}  // namespace taeda::inline v0_2
