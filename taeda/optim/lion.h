// Lion.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule lion_rule;

/// Options of Lion; a number out of its range is a ValueError.
struct LionConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-4};
  /// The momentum's weights in the step and in the next momentum, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.99};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(LionOptions, LionConfig, lion_rule, lr, betas, weight_decay, maximize);

/// State of Lion for a parameter: the count of steps and a tensor of the parameter's shape.
TAEDA_PARAM_STATE(LionParamState, exp_avg);

/// Steps of one size: the sign of the gradient mixed with its momentum (Chen et al. 2023).
class Lion : public RuleOptimizer<LionOptions, LionParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
