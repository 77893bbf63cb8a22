#include "taeda/optim/adafactor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/reduce.h"
#include "taeda/ops/unary.h"

namespace taeda::inline v0_2::optim {

namespace {

/// The distance from 1 to the next number of a dtype.
double epsilon(ScalarType dtype) {
  switch (dtype) {
    case kDouble: return std::numeric_limits<double>::epsilon();
    case kHalf: return 0x1p-10;
    case kBFloat16: return 0x1p-7;
    default: return std::numeric_limits<float>::epsilon();
  }
}

double root_mean_square(const Tensor& t) {
  return norm(t).item<double>() / std::sqrt(static_cast<double>(t.numel()));
}

/// Means of squares along a dimension, which stays.
Tensor mean_square(const Tensor& t, int64_t dim) {
  return norm(t, 2, {dim}, /*keepdim=*/true).square_().div_(static_cast<double>(t.size(dim)));
}

}  // namespace

void AdafactorOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Learning rate should be >= 0 but is: ", lr_);
  TAEDA_CHECK_VALUE(beta2_decay_ <= 0, "beta2_decay should be <= 0 but is: ", beta2_decay_);
  const auto& [eps1, eps2] = eps_;
  TAEDA_CHECK_VALUE(!eps1 || *eps1 >= 0, "epsilon1 should be >= 0 but is: ", *eps1);
  TAEDA_CHECK_VALUE(eps2 >= 0, "epsilon2 should be >= 0 but is: ", eps2);
  TAEDA_CHECK_VALUE(d_ >= 1, "Clipping threshold d should be >= 1 but is: ", d_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "weight_decay should be >= 0 but is: ", weight_decay_);
}

void AdafactorOptions::visit(const NumberVisitor& f) {
  auto& [eps1, eps2] = eps_;
  lr_ = f("lr", lr_);
  beta2_decay_ = f("beta2_decay", beta2_decay_);
  const double least = f("eps1", eps1.value_or(-1));  // -1: the dtype's
  eps1 = least == -1 ? std::nullopt : std::optional(least);
  eps2 = f("eps2", eps2);
  d_ = f("d", d_);
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

std::optional<DimVector> Adafactor::state_sizes(size_t k, const Tensor& param) const {
  DimVector sizes(param.sizes());
  const bool factored = sizes.size() > 1;
  if (factored == (k == 2)) return std::nullopt;
  if (factored) sizes[sizes.size() - (k == 0 ? 1 : 2)] = 1;
  return sizes;
}

Tensor Adafactor::make_state(const OptimizerOptions&, size_t k, const Tensor& param) const {
  return zeros(*state_sizes(k, param), param.options());
}

void Adafactor::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const AdafactorOptions&>(options);
  const auto& [eps1, eps2] = o.eps();
  const double least = eps1.value_or(epsilon(u.param.dtype()));
  const auto step = static_cast<double>(u.state.step);
  const double weight = std::pow(step, o.beta2_decay());
  const double rate =
      std::max(eps2, root_mean_square(u.param)) * std::min(o.lr(), 1 / std::sqrt(step));
  const Tensor grad = o.maximize() ? u.grad.neg() : u.grad;
  if (o.weight_decay() != 0) u.param.mul_(1 - o.lr() * o.weight_decay());
  Tensor square;
  if (grad.dim() > 1) {
    Tensor &rows = u.state.tensors[0], &columns = u.state.tensors[1];
    rows.lerp_(mean_square(grad, -1), weight);
    columns.lerp_(mean_square(grad, -2), weight);
    square = matmul(rows, columns).div_(rows.mean(-2, /*keepdim=*/true).clamp_min_(least));
  } else {
    square = u.state.tensors[2].lerp_(grad * grad, weight).clone();
  }
  const Tensor change = square.clamp_min_(least * least).rsqrt_().mul_(grad);
  u.param.add_(change, -rate / std::max(1.0, root_mean_square(change) / o.d()));
}

}  // namespace taeda::optim
