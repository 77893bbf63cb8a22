// Stochastic gradient descent with momentum.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of SGD; a number out of its range is a ValueError.
class SGDOptions : public RuleOptions<SGDOptions, sgd_rule> {
 public:
  SGDOptions(double lr) : lr_(lr) { note("lr"); }
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_OPTION(double, lr);
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  TAEDA_OPTION(double, momentum) = 0;
  /// The part of a gradient that the momentum does not take; 0 by default.
  TAEDA_OPTION(double, dampening) = 0;
  TAEDA_WEIGHT_DECAY(0);
  /// Whether steps look ahead along the momentum (Nesterov).
  TAEDA_OPTION(bool, nesterov) = false;
  TAEDA_MAXIMIZE();
};

/// State of SGD for a parameter: its momentum, of the parameter's shape; undefined without any.
class SGDParamState final : public OptimizerCloneableParamState<SGDParamState> {
 public:
  TAEDA_STATE_TENSORS(momentum_buffer)
};

/// b = momentum * b + (1 - dampening) * g of each element, where g includes weight_decay * p; p -=
/// lr * b, or with nesterov p -= lr * (g + momentum * b) (Sutskever et al. 2013, with PyTorch's
/// place of lr).
class SGD : public RuleOptimizer<SGDOptions, SGDParamState, sgd_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
