// Lion.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Lion; a number out of its range is a ValueError.
class LionOptions : public RuleOptions<LionOptions, lion_rule> {
 public:
  TAEDA_LEARNING_RATE(LionOptions, 1e-4)
  void visit(const NumberVisitor& f) override;
  /// The momentum's weights in the step and in the next momentum, each at least 0 and below 1.
  TAEDA_BETAS(0.9, 0.99);
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// State of Lion for a parameter: the count of steps and a tensor of the parameter's shape.
class LionParamState final : public OptimizerCloneableParamState<LionParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg)
};

/// Steps of one size: the sign of the gradient mixed with its momentum (Chen et al. 2023).
class Lion : public RuleOptimizer<LionOptions, LionParamState, lion_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
