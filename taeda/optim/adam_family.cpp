#include "taeda/optim/adam_family.h"

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
Tensor loss_gradient(const Options& o, const Tensor& param, const Tensor& grad) {
  const Tensor g = o.maximize() ? grad.neg() : grad;
  return o.weight_decay() == 0 ? g : g.add(param, o.weight_decay());
}

/// Likewise; a decoupled weight decay shrinks the parameter instead.
template <class Options>
Tensor decayed_gradient(const Options& o, Tensor& param, const Tensor& grad) {
  if (!o.decoupled_weight_decay()) return loss_gradient(o, param, grad);
  param.mul_(1 - o.lr() * o.weight_decay());
  return o.maximize() ? grad.neg() : grad;
}

/// 1 - beta^step.
double correction(double beta, int64_t step) {
  return 1 - std::pow(beta, static_cast<double>(step));
}

}  // namespace

void AdamaxOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
}

void AdamaxOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

void Adamax::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const AdamaxOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const Tensor grad = loss_gradient(o, u.param, u.grad);
  Tensor &mean = u.state.tensors[0], &largest = u.state.tensors[1];
  mean.mul_(beta1).add_(grad, 1 - beta1);
  largest = maximum(largest * beta2, grad.abs() + o.eps());
  u.param.addcdiv_(mean, largest, -o.lr() / correction(beta1, u.state.step));
}

void NAdamOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
  TAEDA_CHECK_VALUE(momentum_decay_ >= 0, "Invalid momentum_decay value: ", momentum_decay_);
}

void NAdamOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  momentum_decay_ = f("momentum_decay", momentum_decay_);
  decoupled_weight_decay_ = f("decoupled_weight_decay", decoupled_weight_decay_) != 0;
  maximize_ = f("maximize", maximize_) != 0;
}

void NAdam::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const NAdamOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const Tensor grad = decayed_gradient(o, u.param, u.grad);
  const auto momentum = [&, b = beta1](int64_t step) {
    return b * (1 - 0.5 * std::pow(0.96, static_cast<double>(step) * o.momentum_decay()));
  };
  const double mu = momentum(u.state.step), next_mu = momentum(u.state.step + 1);
  const double product = u.state.numbers[0] *= mu;
  Tensor &mean = u.state.tensors[0], &square = u.state.tensors[1];
  mean.mul_(beta1).add_(grad, 1 - beta1);
  square.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
  const Tensor root = (square / correction(beta2, u.state.step)).sqrt_().add_(o.eps());
  u.param.addcdiv_(grad, root, -o.lr() * (1 - mu) / (1 - product));
  u.param.addcdiv_(mean, root, -o.lr() * next_mu / (1 - product * next_mu));
}

void RAdamOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
}

void RAdamOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  decoupled_weight_decay_ = f("decoupled_weight_decay", decoupled_weight_decay_) != 0;
  maximize_ = f("maximize", maximize_) != 0;
}

void RAdam::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const RAdamOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const Tensor grad = decayed_gradient(o, u.param, u.grad);
  Tensor &mean = u.state.tensors[0], &square = u.state.tensors[1];
  mean.mul_(beta1).add_(grad, 1 - beta1);
  square.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
  const auto step = static_cast<double>(u.state.step);
  const double rate = o.lr() / correction(beta1, u.state.step);
  const double correction2 = correction(beta2, u.state.step);
  const double rho_end = 2 / (1 - beta2) - 1;
  const double rho = rho_end - 2 * step * std::pow(beta2, step) / correction2;
  if (rho <= 5) {
    u.param.add_(mean, -rate);
    return;
  }
  const double rectified = std::sqrt((rho - 4) * (rho - 2) * rho_end /
                                     ((rho_end - 4) * (rho_end - 2) * rho));
  u.param.addcdiv_(mean, square.sqrt().add_(o.eps()), -rate * rectified * std::sqrt(correction2));
}

}  // namespace taeda::optim
