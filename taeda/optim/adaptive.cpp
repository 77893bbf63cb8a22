#include "taeda/optim/adaptive.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/compare.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/index.h"

namespace taeda::inline v0_2::optim {

namespace {

/// The gradient of what is minimised: of the loss, or of its opposite, and of the weight decay.
template <class Options>
Tensor descent_gradient(const Options& o, const Tensor& param, const Tensor& grad) {
  const Tensor g = o.maximize() ? grad.neg() : grad;
  return o.weight_decay() == 0 ? g : g.add(param, o.weight_decay());
}

}  // namespace

void AdadeltaOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(rho_ >= 0 && rho_ <= 1, "Invalid rho value: ", rho_);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
}

void AdadeltaOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  rho_ = f("rho", rho_);
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

void Adadelta::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const AdadeltaOptions&>(options);
  const Tensor grad = descent_gradient(o, u.param, u.grad);
  Tensor &square = u.state.tensors[0], &steps = u.state.tensors[1];
  square.mul_(o.rho()).addcmul_(grad, grad, 1 - o.rho());
  const Tensor root = (square + o.eps()).sqrt_();
  const Tensor delta = (steps + o.eps()).sqrt_().div_(root).mul_(grad);
  steps.mul_(o.rho()).addcmul_(delta, delta, 1 - o.rho());
  u.param.add_(delta, -o.lr());
}

void RpropOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  const auto [shrink, grow] = etas_;
  TAEDA_CHECK_VALUE(shrink > 0 && shrink < 1 && grow > 1, "Invalid eta values: ", shrink, ", ",
                    grow);
  const auto [least, most] = step_sizes_;
  TAEDA_CHECK_VALUE(least <= most, "Invalid step sizes: ", least, ", ", most);
}

void RpropOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(etas_) = f("etaminus", std::get<0>(etas_));
  std::get<1>(etas_) = f("etaplus", std::get<1>(etas_));
  std::get<0>(step_sizes_) = f("step_size_min", std::get<0>(step_sizes_));
  std::get<1>(step_sizes_) = f("step_size_max", std::get<1>(step_sizes_));
  maximize_ = f("maximize", maximize_) != 0;
}

Tensor Rprop::make_state(const OptimizerOptions& options, size_t k, const Tensor& param) const {
  Tensor state = Optimizer::make_state(options, k, param);
  if (k == 1) state.fill_(options.get_lr());
  return state;
}

void Rprop::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const RpropOptions&>(options);
  const auto [shrink, grow] = o.etas();
  const auto [least, most] = o.step_sizes();
  const Tensor grad = o.maximize() ? u.grad.neg() : u.grad;
  Tensor &previous = u.state.tensors[0], &size = u.state.tensors[1];
  const Tensor agreement = grad * previous;
  const Tensor turned = agreement.lt(0);
  size = size * where(turned, shrink, where(agreement.gt(0), grow, ones_like(size)));
  size.clamp_(least, most);
  previous = grad.masked_fill(turned, 0);
  u.param.addcmul_(previous.sign(), size, -1);
}

void ASGDOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(!std::isnan(lambd_), "Invalid lambd value: ", lambd_);
  TAEDA_CHECK_VALUE(!std::isnan(alpha_), "Invalid alpha value: ", alpha_);
  TAEDA_CHECK_VALUE(!std::isnan(t0_), "Invalid t0 value: ", t0_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
}

void ASGDOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  lambd_ = f("lambd", lambd_);
  alpha_ = f("alpha", alpha_);
  t0_ = f("t0", t0_);
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

void ASGD::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const ASGDOptions&>(options);
  const Tensor grad = descent_gradient(o, u.param, u.grad);
  double &eta = u.state.numbers[0], &mu = u.state.numbers[1];
  u.param.mul_(1 - o.lambd() * eta).add_(grad, -eta);
  Tensor& mean = u.state.tensors[0];
  if (mu == 1)
    mean.copy_(u.param);
  else
    mean.add_(u.param - mean, mu);
  const auto step = static_cast<double>(u.state.step);
  eta = o.lr() / std::pow(1 + o.lambd() * o.lr() * step, o.alpha());
  mu = 1 / std::max(1.0, step - o.t0());
}

}  // namespace taeda::inline v0_2::optim
