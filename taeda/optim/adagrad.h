// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adagrad_rule;

/// Options of Adagrad; a number out of its range is a ValueError.
struct AdagradConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-2};
  /// How fast the rate falls, at least 0.
  Setting<double> lr_decay{usual, 0};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// What sums of squares begin with, at least 0.
  Setting<double> initial_accumulator_value{usual, 0};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-10};
};
TAEDA_OPTIONS(AdagradOptions, AdagradConfig, adagrad_rule, lr, lr_decay, weight_decay,
              initial_accumulator_value, eps);

/// State of Adagrad for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(AdagradParamState, sum);

/// p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps) of each element in step t, with s the
/// sum of g^2 (Duchi et al. 2011).
class Adagrad : public RuleOptimizer<AdagradOptions, AdagradParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
