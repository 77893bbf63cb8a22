#include "taeda/optim/adagrad.h"

#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/unary.h"

namespace taeda::inline v0_2::optim {

void AdagradOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(lr_decay_ >= 0, "Invalid lr_decay value: ", lr_decay_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
  TAEDA_CHECK_VALUE(initial_accumulator_value_ >= 0,
                    "Invalid initial_accumulator_value value: ", initial_accumulator_value_);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
}

void AdagradOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  lr_decay_ = f("lr_decay", lr_decay_);
  weight_decay_ = f("weight_decay", weight_decay_);
  initial_accumulator_value_ = f("initial_accumulator_value", initial_accumulator_value_);
  eps_ = f("eps", eps_);
}

bool Adagrad::wants_state(const OptimizerOptions&, size_t) const { return true; }

Tensor Adagrad::make_state(const OptimizerOptions& options, size_t, const Tensor& param) const {
  Tensor sum = empty_for(param);
  sum.fill_(static_cast<const AdagradOptions&>(options).initial_accumulator_value());
  return sum;
}

StepNumbers Adagrad::numbers(const OptimizerOptions& options, int64_t step, bool) {
  const auto& o = static_cast<const AdagradOptions&>(options);
  return {o.lr() / (1 + static_cast<double>(step - 1) * o.lr_decay()), 0};
}

Adagrad::SparseGradients Adagrad::sparse_gradients(const OptimizerOptions& options) const {
  TAEDA_CHECK(static_cast<const AdagradOptions&>(options).weight_decay() == 0,
              "weight_decay option is not compatible with sparse gradients");
  return SparseGradients::Rows;
}

void Adagrad::update_rows(const OptimizerOptions& options, Rows& rows) const {
  const auto& o = static_cast<const AdagradOptions&>(options);
  const double lr = o.lr() / (1 + static_cast<double>(rows.step - 1) * o.lr_decay());
  rows.states[0].add_(rows.grad.square());
  rows.param.add_(rows.grad.div(rows.states[0].sqrt().add_(o.eps())), -lr);
}

void Adagrad::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const AdagradOptions&>(options);
  adagrad_slot(list.device().type(), list, {o.eps(), o.weight_decay(), o.lr_decay()});
}

}  // namespace taeda::optim
