// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

extern const Rule adagrad_rule;  ///< What a step does to a parameter and its state.

/// Options of Adagrad.
class AdagradOptions : public RuleOptions<AdagradOptions, adagrad_rule> {
 public:
  TAEDA_LEARNING_RATE(AdagradOptions, 1e-2)
  void visit(const NumberVisitor& f) override;
  /// How fast the rate falls, at least 0.
  TAEDA_OPTION(double, lr_decay) = 0;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// What sums of squares begin with, at least 0.
  TAEDA_OPTION(double, initial_accumulator_value) = 0;
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-10;
};

/// What Adagrad keeps for a parameter.
class AdagradParamState final : public OptimizerCloneableParamState<AdagradParamState> {
 public:
  static constexpr const char* kNames[] = {"sum"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, sum)
};

/// p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps) with s the sum of g^2 (Duchi et al.
/// 2011).
class Adagrad : public RuleOptimizer<AdagradOptions, AdagradParamState, adagrad_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
