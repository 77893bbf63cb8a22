// Adadelta, Rprop and ASGD.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adadelta; a number out of its range is a ValueError.
class AdadeltaOptions : public RuleOptions<AdadeltaOptions, adadelta_rule> {
 public:
  TAEDA_LEARNING_RATE(AdadeltaOptions, 1)
  void visit(const NumberVisitor& f) override;
  /// The part that running means keep of themselves in a step, between 0 and 1.
  TAEDA_OPTION(double, rho) = 0.9;
  TAEDA_EPS(1e-6);
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// State of Adadelta for a parameter: the count of steps and tensors of the parameter's shape.
class AdadeltaParamState final : public OptimizerCloneableParamState<AdadeltaParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(square_avg, acc_delta)
};

/// Steps of the size of recent steps over that of recent gradients (Zeiler 2012); lr scales them.
class Adadelta : public RuleOptimizer<AdadeltaOptions, AdadeltaParamState, adadelta_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Options of Rprop; a number out of its range is a ValueError.
class RpropOptions : public RuleOptions<RpropOptions, rprop_rule> {
 public:
  using Pair = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(RpropOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  /// The factors of an element's step after its gradient's sign changed, between 0 and 1, and after
  /// it stayed, above 1.
  TAEDA_OPTION(Pair, etas) = {0.5, 1.2};
  /// The least and the largest step of an element.
  TAEDA_OPTION(Pair, step_sizes) = {1e-6, 50};
  TAEDA_MAXIMIZE();
};

/// State of Rprop for a parameter: the count of steps and tensors of the parameter's shape.
class RpropParamState final : public OptimizerCloneableParamState<RpropParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(prev, step_size)
};

/// Steps that know the sign of each element's gradient alone, and grow while it stays (Riedmiller
/// and Braun 1993).
class Rprop : public RuleOptimizer<RpropOptions, RpropParamState, rprop_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Options of ASGD; a number out of its range is a ValueError.
class ASGDOptions : public RuleOptions<ASGDOptions, asgd_rule> {
 public:
  TAEDA_LEARNING_RATE(ASGDOptions, 1e-2)
  void visit(const NumberVisitor& f) override;
  /// The part of an element that a step takes off, times the rate; 1e-4 by default.
  TAEDA_OPTION(double, lambd) = 1e-4;
  /// The power of the steps' number by which the rate falls; 0.75 by default.
  TAEDA_OPTION(double, alpha) = 0.75;
  /// The step from which on values are averaged; 1e6 by default.
  TAEDA_OPTION(double, t0) = 1e6;
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// State of ASGD for a parameter: the count of steps and a tensor of the parameter's shape.
class ASGDParamState final : public OptimizerCloneableParamState<ASGDParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(ax)
};

/// Stochastic gradient descent with a falling rate; `ax` of a parameter's state, of its shape, is
/// the mean of its values from step t0 on (Polyak and Juditsky 1992).
class ASGD : public RuleOptimizer<ASGDOptions, ASGDParamState, asgd_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
