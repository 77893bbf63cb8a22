#include "taeda/optim/lion.h"

#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/unary.h"

namespace taeda::inline v0_2::optim {

void LionOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
}

void LionOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

void Lion::update(const OptimizerOptions& options, Update& u) {
  const auto& o = static_cast<const LionOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const Tensor grad = o.maximize() ? u.grad.neg() : u.grad;
  Tensor& mean = u.state.tensors[0];
  u.param.mul_(1 - o.lr() * o.weight_decay());
  u.param.add_((mean * beta1).add_(grad, 1 - beta1).sign_(), -o.lr());
  mean.mul_(beta2).add_(grad, 1 - beta2);
}

}  // namespace taeda::optim
