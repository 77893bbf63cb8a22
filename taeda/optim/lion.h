// Lion.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

extern const Rule lion_rule;  ///< What a step does to a parameter and its state.

/// Options of Lion.
class LionOptions : public RuleOptions<LionOptions, lion_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(LionOptions, 1e-4)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// The momentum's weight in the step, and its weight in the next momentum.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.99};
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether steps go up.
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Lion keeps for a parameter.
class LionParamState final : public OptimizerCloneableParamState<LionParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
};

/// Steps of one size: the sign of the gradient mixed with its momentum (Chen et al. 2023).
class Lion : public RuleOptimizer<LionOptions, LionParamState, lion_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
