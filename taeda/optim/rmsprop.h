// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of RMSprop; a number out of its range is a ValueError.
class RMSpropOptions : public RuleOptions<RMSpropOptions, rmsprop_rule> {
 public:
  TAEDA_LEARNING_RATE(RMSpropOptions, 1e-2)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  /// What the mean of squares keeps of itself in a step, at least 0.
  TAEDA_OPTION(double, alpha) = 0.99;
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  TAEDA_OPTION(double, momentum) = 0;
  /// Whether the square of the running mean of gradients is taken off the mean of squares; false by
  /// default.
  TAEDA_OPTION(bool, centered) = false;
};

/// State of RMSprop for a parameter: the count of steps and tensors of the parameter's shape.
class RMSpropParamState final : public OptimizerCloneableParamState<RMSpropParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(square_avg, momentum_buffer, grad_avg)
};

/// p -= lr * g / (sqrt(v) + eps) of each element with v the running mean of g^2 (Hinton's lecture),
/// less the square of the running mean of g when centred (Graves 2013, arXiv:1308.0850); with
/// momentum the quotient is accumulated first.
class RMSprop : public RuleOptimizer<RMSpropOptions, RMSpropParamState, rmsprop_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
