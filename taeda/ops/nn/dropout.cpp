#include "taeda/ops/nn/dropout.h"

#include <cmath>

#include "bodies/dropout.h"
#include "taeda/autograd/record.h"
#include "taeda/autograd/runs_once.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/dropout_state.h"

namespace taeda::inline v0_2 {

namespace {

void check_probability(double p) {
  TAEDA_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

using detail::DropoutMask;

/// x with the decisions of `mask`, the n-th of which is on the n-th element in the memory of a
/// tensor of these sizes and `strides`, as the result has them. Linear in x: its gradient is
/// itself.
Tensor apply_mask(const Tensor& x, double p, const DropoutMask& mask, const DimVector& strides) {
  Tensor out = make_tensor(Layout{x.sizes(), strides, 0}, x.dtype(), x.device());
  if (out.numel() > 0) {
    NoGradGuard guard;
    const Tensor in = x.strides() == IntArrayRef(strides) ? x : out.copy_(x);
    detail::apply_decisions(out, in, p, mask);
  }
  if (wants_grad(x)) {
    autograd::runs_once();
    record("NativeDropoutBackward0", out, {x},
           [p, mask, strides](const Tensor& g) { return apply_mask(g, p, mask, strides); });
  }
  return out;
}

/// The strides in whose order `input`'s elements are decided on.
DimVector mask_order(const Tensor& input) {
  NoGradGuard guard;
  if (!input.is_cpu()) return contiguous_strides(input.sizes());
  return DimVector(empty_like(input).strides());
}

/// The same with new decisions.
Tensor apply_new_mask(const Tensor& input, double p) {
  return apply_mask(input, p, detail::next_mask(input, input.numel(), 1 - p), mask_order(input));
}

/// Which elements of `t`'s shape stay, as ones and zeros.
Tensor kept_elements(const Tensor& t, double p) {
  return t.is_cpu() ? empty_like(t).bernoulli_(1 - p) : apply_new_mask(t, p).mul(1 - p);
}

/// Ones, shaped to decide for a channel of `input`.
Tensor channel_ones(const Tensor& input) {
  TAEDA_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  DimVector shape(input.sizes());
  for (size_t d = 2; d < shape.size(); ++d) shape[d] = 1;
  return ones(shape, input.options());
}

/// What is kept, as ones and zeros: x * a * mask + b, with a and b such that mean 0 and variance 1
/// stay what they are when dropped elements become SELU's lower limit.
Tensor alpha_drop(const Tensor& input, const Tensor& shape, double p) {
  constexpr double kLimit = 1.7580993408473766;  // -SELU(-infinity)
  if (p == 1) return input.mul(0);
  const double a = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const Tensor mask = kept_elements(shape, p);
  const Tensor shift = mask.sub(1).mul(kLimit * a).add(kLimit * a * p);
  return input.mul(mask.mul(a)).add(shift);
}

}  // namespace

Tensor do_dropout(const Tensor& input, double p, bool training) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input.mul(0);
  check_floating("dropout", input);
  return apply_new_mask(input, p);
}

Tensor& do_dropout_(const Tensor& input, double p, bool training) {
  check_probability(p);
  Tensor& self = const_cast<Tensor&>(input);
  if (!training || p == 0 || input.numel() == 0) return self;
  if (p == 1) return input.mul_(0);
  check_floating("dropout", input);
  check_inplace("dropout_", input);
  const DropoutMask mask = detail::next_mask(input, input.numel(), 1 - p);
  const DimVector strides = mask_order(input);
  if (wants_grad(input)) {
    detail::assign_recorded("dropout_", input,
                            [&](const Tensor& x) { return apply_mask(x, p, mask, strides); });
  } else if (input.strides() == IntArrayRef(strides)) {
    detail::apply_decisions(input, input, p, mask);
    bump_version(input);
  } else {
    input.copy_(apply_mask(input, p, mask, strides));
  }
  return self;
}

Tensor do_feature_dropout(const Tensor& input, double p, bool training) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input.mul(0);
  check_floating("dropout", input);
  return input.mul(kept_elements(channel_ones(input), p).div(1 - p));
}

Tensor do_alpha_dropout(const Tensor& input, double p, bool training) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  check_floating("alpha_dropout", input);
  return alpha_drop(input, ones(input.sizes(), input.options()), p);
}

Tensor do_feature_alpha_dropout(const Tensor& input, double p, bool training) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  check_floating("alpha_dropout", input);
  return alpha_drop(input, channel_ones(input), p);
}

Tensor& do_feature_dropout_(const Tensor& input, double p, bool training) {
  return detail::assign("feature_dropout_", input, wants_grad(input),
                        [=](const Tensor& x) { return feature_dropout(x, p, training); });
}

Tensor& do_alpha_dropout_(const Tensor& input, double p, bool training) {
  return detail::assign("alpha_dropout_", input, wants_grad(input),
                        [=](const Tensor& x) { return alpha_dropout(x, p, training); });
}

Tensor& do_feature_alpha_dropout_(const Tensor& input, double p, bool training) {
  return detail::assign("feature_alpha_dropout_", input, wants_grad(input),
                        [=](const Tensor& x) { return feature_alpha_dropout(x, p, training); });
}

}  // namespace taeda::inline v0_2
