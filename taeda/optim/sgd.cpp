#include "taeda/optim/sgd.h"

#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"

namespace taeda::inline v0_2::optim {

void SGDOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(momentum_ >= 0, "Invalid momentum value: ", momentum_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
  TAEDA_CHECK_VALUE(!nesterov_ || (momentum_ > 0 && dampening_ == 0),
                    "Nesterov momentum requires a momentum and zero dampening");
}

void SGDOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  momentum_ = f("momentum", momentum_);
  dampening_ = f("dampening", dampening_);
  weight_decay_ = f("weight_decay", weight_decay_);
  nesterov_ = f("nesterov", nesterov_) != 0;
  maximize_ = f("maximize", maximize_) != 0;
}

bool SGD::wants_state(const OptimizerOptions& options, size_t) const {
  return static_cast<const SGDOptions&>(options).momentum() != 0;
}

/// The first step writes the buffer before it reads it.
Tensor SGD::make_state(const OptimizerOptions&, size_t, const Tensor& param) const {
  return empty_for(param);
}

StepNumbers SGD::numbers(const OptimizerOptions&, int64_t, bool fresh) {
  return {fresh ? 1.0 : 0.0, 0};
}

/// The buffer of a momentum changes everywhere.
SGD::SparseGradients SGD::sparse_gradients(const OptimizerOptions& options) const {
  const auto& o = static_cast<const SGDOptions&>(options);
  TAEDA_CHECK(o.weight_decay() == 0, "weight_decay option is not compatible with sparse gradients");
  return o.momentum() == 0 ? SparseGradients::Rows : SparseGradients::Dense;
}

void SGD::update_rows(const OptimizerOptions& options, Rows& rows) const {
  const auto& o = static_cast<const SGDOptions&>(options);
  rows.param.add_(rows.grad, o.maximize() ? o.lr() : -o.lr());
}

void SGD::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const SGDOptions&>(options);
  sgd_slot(list.device().type(), list,
           {o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), o.maximize()});
}

}  // namespace taeda::optim
