// The losses that go element by element.
#include "taeda/ops/nn/loss.h"

#include <cmath>
#include <numbers>

#include "bodies/loss.h"
#include "taeda/autograd/record.h"
#include "taeda/base/warning.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/pointwise/loss.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/loss_reduce.h"

namespace taeda::inline v0_2 {

using detail::reduce_loss;

namespace {

/// Each prediction would be compared with each target: legal, and hardly ever meant.
void warn_of_broadcast(const Tensor& input, const Tensor& target) {
  if (!input.defined() || !target.defined() || input.sizes() == target.sizes()) [[likely]]
    return;
  TAEDA_WARN(
      "Using a target size (torch.Size(", target.sizes(),
      ")) that is different to the input size (torch.Size(", input.sizes(),
      ")). This will likely lead to incorrect results due to broadcasting. Please ensure they "
      "have the same size.");
}

/// Whether both have the same sizes but for dimensions of size 1.
bool has_squeezed(const Tensor& a, const Tensor& b) {
  const auto squeezed = [](const Tensor& t) {
    DimVector out;
    for (const int64_t size : t.sizes())
      if (size != 1) out.push_back(size);
    return out;
  };
  return squeezed(a) == squeezed(b);
}

/// The target of [n] for an input of [n, 1], and the other way round.
Tensor in_sizes_of(const Tensor& input, const Tensor& target) {
  TAEDA_CHECK_VALUE(has_squeezed(input, target), "Using a target size (", target.sizes(),
                    ") that is different to the input size (", input.sizes(),
                    ") is deprecated. Please ensure they have the same size.");
  return target.reshape(input.sizes());
}

/// A loss computed by one functor, recorded as one node. `slope(input, target)` is the derivative
/// by the input, `target_slope` the one by the target.
template <class Op, class Slope, class TargetSlope>
Tensor recorded_loss(const char* node, const Op& op, const Tensor& input, const Tensor& target,
                     Reduction reduction, Slope slope, TargetSlope target_slope) {
  Tensor loss;
  int64_t divisor = 1;
  {
    NoGradGuard guard;
    const Tensor each = pointwise(op, input, target);
    if (reduction == Reduction::Mean) divisor = each.numel();
    loss = reduce_loss(each, reduction);
  }
  if (wants_grad(input, target))
    record(node, loss, {input, target},
           [x = save_tensor(input, "input"), t = save_tensor(target, "target"), divisor, slope,
            target_slope](const Tensor& g, Needs needs) {
             const Tensor a = x.unpack(), b = t.unpack(),
                          scaled = divisor == 1 ? g : g.div(Scalar(divisor));
             return TensorVec{needs[0] ? slope(a, b).mul(scaled) : Tensor(),
                              needs[1] ? target_slope(a, b).mul(scaled) : Tensor()};
           });
  return loss;
}

/// Losses of the difference: the derivative by the target is the negative of the one by the input.
template <class Op, class Slope>
Tensor difference_loss(const char* node, const Op& op, const Tensor& input, const Tensor& target,
                       Reduction reduction, Slope slope) {
  warn_of_broadcast(input, target);
  const auto at = [slope](const Tensor& a, const Tensor& b) {  // bools have no minus
    return slope(a.dtype() == kBool ? a.to(b.dtype()).sub(b)
                                    : a.sub(b.dtype() == kBool ? b.to(a.dtype()) : b));
  };
  return recorded_loss(node, op, input, target, reduction, at,
                       [at](const Tensor& a, const Tensor& b) { return at(a, b).neg(); });
}

Tensor weighted(const Tensor& loss, const Tensor& weight, Reduction reduction) {
  return reduce_loss(weight.defined() ? loss.mul(weight) : loss, reduction);
}

/// -log sigmoid(x), of integers in the default dtype.
Tensor minus_log_sigmoid(const Tensor& x) {
  return log_sigmoid(is_integral(x.dtype(), true) ? x.to(get_default_dtype()) : x).neg();
}

}  // namespace

Tensor do_mse_loss(const Tensor& input, const Tensor& target, ReductionArg reduction) {
  return difference_loss("MseLossBackward0", MseLoss{}, input, target, reduction,
                         [](const Tensor& d) { return d.mul(2); });
}

Tensor do_l1_loss(const Tensor& input, const Tensor& target, ReductionArg reduction) {
  if (input.is_complex() || target.is_complex())
    return reduce_loss(input.sub(target).abs(), reduction);
  return difference_loss("L1LossBackward0", L1Loss{}, input, target, reduction,
                         [](const Tensor& d) { return d.sign(); });
}

Tensor do_smooth_l1_loss(const Tensor& input, const Tensor& target, ReductionArg reduction,
                         double beta) {
  TAEDA_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return l1_loss(input, target, reduction);
  return difference_loss("SmoothL1LossBackward0", SmoothL1Loss{beta}, input, target, reduction,
                         [beta](const Tensor& d) { return d.div(beta).clamp(-1, 1); });
}

Tensor do_huber_loss(const Tensor& input, const Tensor& target, ReductionArg reduction,
                     double delta) {
  TAEDA_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  return difference_loss("HuberLossBackward0", HuberLoss{delta}, input, target, reduction,
                         [delta](const Tensor& d) { return d.clamp(-delta, delta); });
}

Tensor do_binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                               ReductionArg reduction) {
  if (input.sizes() != target.sizes())
    return binary_cross_entropy(input, in_sizes_of(input, target), weight, reduction);
  if (weight.defined() && weight.sizes() != input.sizes() && has_squeezed(weight, input))
    return binary_cross_entropy(input, target, weight.reshape(input.sizes()), reduction);
  if (detail::can_look_at_values(
          input.device())) {  // on a device this would wait for everything before it
    NoGradGuard guard;
    TAEDA_CHECK(input.ge(0).logical_and(input.le(1)).all().item<bool>(),
                "all elements of input should be between 0 and 1");
  }
  const auto slope = [](const Tensor& x, const Tensor& t) {
    // float16 has no 1e-12; its smallest normal number keeps 0 / 0 away as well.
    const double least = x.dtype() == kHalf ? 0x1p-14 : 1e-12;
    return x.sub(t).div(x.mul(x.neg().add(1)).clamp_min(least));
  };
  const auto target_slope = [](const Tensor& x, const Tensor&) {
    return x.neg().log1p().clamp_min(-100).sub(x.log().clamp_min(-100));
  };
  if (!weight.defined())
    return recorded_loss("BinaryCrossEntropyBackward0", BinaryCrossEntropy{}, input, target,
                         reduction, slope, target_slope);
  return weighted(recorded_loss("BinaryCrossEntropyBackward0", BinaryCrossEntropy{}, input, target,
                                Reduction::None, slope, target_slope),
                  weight, reduction);
}

Tensor do_binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                           const Tensor& weight, const Tensor& pos_weight,
                                           ReductionArg reduction) {
  TAEDA_CHECK_VALUE(input.sizes() == target.sizes(), "Target size (", target.sizes(),
                    ") must be the same as input size (", input.sizes(), ")");
  if (pos_weight.defined()) {
    // (1 - t) x + (1 + (pos_weight - 1) t) (-log sigmoid(x))
    const Tensor factor = pos_weight.sub(1).mul(target).add(1);
    return weighted(target.neg().add(1).mul(input).add(factor.mul(minus_log_sigmoid(input))),
                    weight, reduction);
  }
  const auto loss = [&](Reduction r) {
    return recorded_loss(
        "BinaryCrossEntropyWithLogitsBackward0", BinaryCrossEntropyLogits{}, input, target, r,
        [](const Tensor& x, const Tensor& t) { return x.sigmoid().sub(t); },
        [](const Tensor& x, const Tensor&) { return x.neg(); });
  };
  return weight.defined() ? weighted(loss(Reduction::None), weight, reduction) : loss(reduction);
}

Tensor do_kl_div(const Tensor& input, const Tensor& target, ReductionArg reduction, bool log_target,
                 bool batch_mean) {
  TAEDA_CHECK(!is_integral(input.dtype(), true) && !is_integral(target.dtype(), true),
              "kl_div: Integral inputs not supported.");
  TAEDA_CHECK(!input.is_complex() && !target.is_complex(), "kl_div: Complex inputs not supported.");
  const Tensor loss = recorded_loss(
      "KlDivBackward0", KlDiv{log_target}, input, target,
      batch_mean ? Reduction::Sum : Reduction(reduction),
      [log_target](const Tensor&, const Tensor& t) { return (log_target ? t.exp() : t).neg(); },
      [log_target](const Tensor& x, const Tensor& t) {
        if (log_target) return t.exp().mul(t.sub(x).add(1));
        return t.log().add(1).sub(x).masked_fill(t.eq(0), 0);
      });
  return batch_mean && input.dim() > 0 ? loss.div(Scalar(input.size(0))) : loss;
}

Tensor do_poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                           double eps, ReductionArg reduction) {
  Tensor loss =
      log_input ? input.exp().sub(target.mul(input)) : input.sub(target.mul(input.add(eps).log()));
  if (full) {  // Stirling: t log t - t + log(2 pi t) / 2
    const Tensor stirling =
        target.mul(target.log()).sub(target).add(target.mul(2 * std::numbers::pi).log().mul(0.5));
    loss = loss.add(stirling.masked_fill(target.le(1), 0));
  }
  return reduce_loss(loss, reduction);
}

Tensor do_gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                            double eps, ReductionArg reduction) {
  Tensor variance = var;
  if (!(var.sizes() == input.sizes())) {
    const size_t n = input.sizes().size();
    const bool one_each = n > 0 && var.sizes() == input.sizes().slice(0, n - 1);
    int64_t others = 0;  // one dimension along which there is one variance
    for (size_t i = 0; var.dim() == input.dim() && i < n; ++i)
      others += var.sizes()[i] == input.sizes()[i] ? 0 : var.sizes()[i];
    TAEDA_CHECK_VALUE(one_each || others == 1, "var is of incorrect size");
    if (one_each) variance = var.unsqueeze(-1);
  }
  TAEDA_CHECK_VALUE(
      variance.is_meta() || detail::host_recording() || !variance.lt(0).any().item<bool>(),
      "var has negative entry/entries");
  // The lower bound on the variance is a constant: no gradient flows where it holds.
  const Tensor v = variance.clamp_min(eps);
  Tensor loss = v.log().add(input.sub(target).square().div(v)).mul(0.5);
  if (full) loss = loss.add(0.5 * std::log(2 * std::numbers::pi));
  return reduce_loss(loss, reduction);
}

Tensor do_hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                               ReductionArg reduction) {
  const Tensor far = input.neg().add(margin).clamp_min(0).masked_fill(target.eq(1), 0);
  return reduce_loss(far.add(input.masked_fill(target.eq(-1), 0)), reduction);
}

Tensor do_soft_margin_loss(const Tensor& input, const Tensor& target, ReductionArg reduction) {
  return reduce_loss(minus_log_sigmoid(input.mul(target)), reduction);
}

}  // namespace taeda::inline v0_2
