#include "taeda/optim/sparse_adam.h"

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/unary.h"

namespace taeda::inline v0_2::optim {

void SparseAdamOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ > 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(eps_ > 0, "Invalid epsilon value: ", eps_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
}

void SparseAdamOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  eps_ = f("eps", eps_);
  maximize_ = f("maximize", maximize_) != 0;
}

SparseAdam::SparseAdam(std::vector<OptimizerParamGroup> groups, SparseAdamOptions defaults)
    : Optimizer(std::move(groups), std::make_unique<SparseAdamOptions>(std::move(defaults))) {
  size_t i = 0;
  for (const Tensor& p : parameters()) {
    TAEDA_CHECK_VALUE(!p.is_sparse(), "Sparse params at indices [", i,
                      "]: SparseAdam requires dense parameter tensors");
    ++i;
  }
}

void SparseAdam::update_rows(const OptimizerOptions& options, Rows& rows) const {
  const auto& o = static_cast<const SparseAdamOptions&>(options);
  const auto [beta1, beta2] = o.betas();
  const auto step = static_cast<double>(rows.step);
  const Tensor grad = o.maximize() ? rows.grad.neg() : rows.grad;
  Tensor &mean = rows.states[0], &square = rows.states[1];
  mean.add_(grad.sub(mean).mul_(1 - beta1));
  square.add_(grad.square().sub_(square).mul_(1 - beta2));
  const double size = o.lr() * std::sqrt(1 - std::pow(beta2, step)) / (1 - std::pow(beta1, step));
  rows.param.add_(mean.div(square.sqrt().add_(o.eps())), -size);
}

}  // namespace taeda::inline v0_2::optim
