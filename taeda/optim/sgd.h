// Stochastic gradient descent with momentum.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

class SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr) : lr_(lr) { note("lr"); }
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_OPTION(double, lr);
  TAEDA_OPTION(double, momentum) = 0;
  TAEDA_OPTION(double, dampening) = 0;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, nesterov) = false;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What SGD keeps for a parameter.
class SGDParamState final : public OptimizerCloneableParamState<SGDParamState> {
 public:
  static constexpr const char* kNames[] = {"momentum_buffer"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_TENSOR(0, momentum_buffer)
};

extern const Rule sgd_rule;  ///< What a step does to a parameter and its state.

/// b = momentum * b + (1 - dampening) * g, where g includes weight_decay * p; p -= lr * b, or with
/// nesterov p -= lr * (g + momentum * b) (Sutskever et al. 2013, with PyTorch's place of lr).
class SGD : public RuleOptimizer<SGDOptions, SGDParamState, sgd_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
