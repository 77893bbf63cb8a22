#include "taeda/optim/muon.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/matmul.h"
#include "taeda/ops/reduce.h"

namespace taeda::inline v0_2::optim {

namespace {

constexpr std::array kAdjustments = {"original", "match_rms_adamw", "spectral_unclamped"};

/// The place of a name among kAdjustments; their number for another name.
size_t adjustment(const MuonOptions& o) {
  const std::string name = o.adjust_lr_fn().value_or(kAdjustments[0]);
  return static_cast<size_t>(std::find(kAdjustments.begin(), kAdjustments.end(), name) -
                             kAdjustments.begin());
}

/// The rate for a matrix of this shape.
double adjusted_rate(const MuonOptions& o, IntArrayRef shape) {
  const auto rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape[1]);
  switch (adjustment(o)) {
    case 1: return o.lr() * 0.2 * std::sqrt(std::max(rows, columns));
    case 2: return o.lr() * std::sqrt(rows / columns);
    default: return o.lr() * std::sqrt(std::max(1.0, rows / columns));
  }
}

/// U V^T, about, of a matrix U S V^T: Newton and Schulz' iteration of a quintic polynomial.
Tensor orthogonalized(const MuonOptions& o, const Tensor& matrix) {
  const auto [a, b, c] = o.ns_coefficients();
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = (tall ? matrix.t() : matrix).to(kBFloat16);
  x = x / norm(x).clamp_min(o.eps());
  for (int64_t i = 0; i < o.ns_steps(); ++i) {
    const Tensor gram = matmul(x, x.t());
    x = addmm(x, addmm(gram, gram, gram, b, c), x, a);
  }
  return tall ? x.t() : x;
}

}  // namespace

void MuonOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Learning rate should be >= 0 but is: ", lr_);
  TAEDA_CHECK_VALUE(momentum_ >= 0, "momentum should be >= 0 but is: ", momentum_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "weight decay should be >= 0 but is: ", weight_decay_);
  TAEDA_CHECK_VALUE(eps_ >= 0, "eps should be >= 0 but is: ", eps_);
  const auto [a, b, c] = ns_coefficients_;
  TAEDA_CHECK_VALUE(!std::isnan(a + b + c), "ns_coefficients should be numbers but are: ", a, ", ",
                    b, ", ", c);
  TAEDA_CHECK_VALUE(ns_steps_ >= 0 && ns_steps_ < 100,
                    "Number of steps must be less than 100 for computational efficiency, got ",
                    ns_steps_);
  TAEDA_CHECK_VALUE(adjustment(*this) < kAdjustments.size(), "Adjust learning rate function ",
                    *adjust_lr_fn_, " is not supported");
}

void MuonOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  weight_decay_ = f("weight_decay", weight_decay_);
  momentum_ = f("momentum", momentum_);
  nesterov_ = f("nesterov", nesterov_) != 0;
  std::get<0>(ns_coefficients_) = f("ns_coefficients.0", std::get<0>(ns_coefficients_));
  std::get<1>(ns_coefficients_) = f("ns_coefficients.1", std::get<1>(ns_coefficients_));
  std::get<2>(ns_coefficients_) = f("ns_coefficients.2", std::get<2>(ns_coefficients_));
  eps_ = f("eps", eps_);
  ns_steps_ = static_cast<int64_t>(f("ns_steps", static_cast<double>(ns_steps_)));
  const double adjust = f("adjust_lr_fn", static_cast<double>(adjustment(*this)));
  TAEDA_CHECK_VALUE(adjust >= 0 && adjust < static_cast<double>(kAdjustments.size()),
                    "Adjust learning rate function ", adjust, " is not supported");
  if (adjust_lr_fn_ || adjust != 0) adjust_lr_fn_ = kAdjustments[static_cast<size_t>(adjust)];
}

Muon::Muon(std::vector<OptimizerParamGroup> groups, MuonOptions defaults)
    : ComposedOptimizer(std::move(groups), std::make_unique<MuonOptions>(std::move(defaults))) {
  for (const Tensor& p : parameters())
    TAEDA_CHECK_VALUE(
        p.dim() == 2,
        "Muon only supports 2D parameters whereas we found a parameter with size: ", p.sizes());
}

void Muon::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const MuonOptions&>(options);
  TAEDA_CHECK_VALUE(u.grad.dim() == 2, "Muon.step(): a gradient must be a matrix, got shape ",
                    u.grad.sizes());
  Tensor& momentum = u.state.tensors[0];
  momentum.lerp_(u.grad, 1 - o.momentum());
  const Tensor change =
      orthogonalized(o, o.nesterov() ? lerp(u.grad, momentum, o.momentum()) : momentum);
  u.param.mul_(1 - o.lr() * o.weight_decay());
  u.param.add_(change.to(u.param.dtype()), -adjusted_rate(o, u.param.sizes()));
}

}  // namespace taeda::inline v0_2::optim
