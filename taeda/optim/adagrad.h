// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adagrad; a number out of its range is a ValueError.
class AdagradOptions : public RuleOptions<AdagradOptions, adagrad_rule> {
 public:
  TAEDA_LEARNING_RATE(AdagradOptions, 1e-2)
  void visit(const NumberVisitor& f) override;
  /// How fast the rate falls, at least 0.
  TAEDA_OPTION(double, lr_decay) = 0;
  TAEDA_WEIGHT_DECAY(0);
  /// What sums of squares begin with, at least 0.
  TAEDA_OPTION(double, initial_accumulator_value) = 0;
  TAEDA_EPS(1e-10);
};

/// State of Adagrad for a parameter: the count of steps and tensors of the parameter's shape.
class AdagradParamState final : public OptimizerCloneableParamState<AdagradParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(sum)
};

/// p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps) of each element in step t, with s the
/// sum of g^2 (Duchi et al. 2011).
class Adagrad : public RuleOptimizer<AdagradOptions, AdagradParamState, adagrad_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
