// What classes of optimizers say of their rules.
#pragma once

#include <algorithm>

#include "taeda/optim/options.h"
#include "taeda/optim/rule_step.h"

namespace taeda::inline v0_2::optim {

/// A step of one parameter, a copy, as the update of a ComposedOptimizer that has counted it.
template <class Update>
void take_step(const Rule& rule, const OptimizerOptions& options, Update& u) {
  double values[Rule::kMostFields];
  read_values(rule, *options.clone(), values);
  Lent lent{.param = u.param, .grad = u.grad};
  lent.count.step = static_cast<double>(u.state.step - 1);
  std::copy_n(u.state.numbers, rule.numbers.size(), lent.count.numbers);
  std::copy_n(u.state.tensors, rule.states.size(), lent.states);
  RuleStep step(rule, rule.name, /*replaces=*/true);
  step.add(values, std::move(lent));
  step.run();
  std::copy_n(step.lent()[0].states, rule.states.size(), u.state.tensors);
  std::copy_n(step.lent()[0].count.numbers, rule.numbers.size(), u.state.numbers);
}

/// The rows that a sparse gradient has, as an optimizer's `update_rows` gets them.
template <class Rows>
void take_rows(const Rule& rule, const OptimizerOptions& options, Rows& rows) {
  double values[Rule::kMostFields];
  read_values(rule, *options.clone(), values);
  StepTensors tensors{rows.grad, rows.param, {}, static_cast<double>(rows.step)};
  std::copy_n(rows.states, rule.states.size(), tensors.states);
  rule.rows(values, tensors);
  rows.param = tensors.param;
  std::copy_n(tensors.states, rule.states.size(), rows.states);
}

/// The first value of a state, with the options of a class.
inline Tensor first_state_of(const Rule& rule, const OptimizerOptions& options, size_t k,
                             const Tensor& param) {
  double values[Rule::kMostFields];
  read_values(rule, *options.clone(), values);
  return *first_state(rule, values, k, param);
}

}  // namespace taeda::inline v0_2::optim
