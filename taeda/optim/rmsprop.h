// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

class RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  TAEDA_LEARNING_RATE(RMSpropOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_OPTION(double, alpha) = 0.99;
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(double, momentum) = 0;
  TAEDA_OPTION(bool, centered) = false;
};

/// What RMSprop keeps for a parameter.
class RMSpropParamState final : public OptimizerCloneableParamState<RMSpropParamState> {
 public:
  static constexpr const char* kNames[] = {"square_avg", "momentum_buffer", "grad_avg"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, square_avg)
  TAEDA_STATE_TENSOR(1, momentum_buffer)
  TAEDA_STATE_TENSOR(2, grad_avg)
};

extern const Rule rmsprop_rule;  ///< What a step does to a parameter and its state.

/// p -= lr * g / (sqrt(v) + eps) with v the running mean of g^2 (Hinton's lecture), less the square
/// of the running mean of g when centred (Graves 2013); with momentum the quotient is accumulated
/// first.
class RMSprop : public RuleOptimizer<RMSpropOptions, RMSpropParamState, rmsprop_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
