// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule rmsprop_rule;

/// Options of RMSprop; a number out of its range is a ValueError.
struct RMSpropConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-2};
  /// What the mean of squares keeps of itself in a step, at least 0.
  Setting<double> alpha{usual, 0.99};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  Setting<double> momentum{usual, 0};
  /// Whether the square of the running mean of gradients is taken off the mean of squares; false by
  /// default.
  Setting<bool> centered{usual, false};
};
TAEDA_OPTIONS(RMSpropOptions, RMSpropConfig, rmsprop_rule, lr, alpha, eps, weight_decay, momentum,
              centered);

/// State of RMSprop for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(RMSpropParamState, square_avg, momentum_buffer, grad_avg);

/// p -= lr * g / (sqrt(v) + eps) of each element with v the running mean of g^2 (Hinton's lecture),
/// less the square of the running mean of g when centred (Graves 2013, arXiv:1308.0850); with
/// momentum the quotient is accumulated first.
class RMSprop : public RuleOptimizer<RMSpropOptions, RMSpropParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
