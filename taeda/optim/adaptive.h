// Adadelta, Rprop and ASGD.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adadelta_rule;

/// Options of Adadelta; a number out of its range is a ValueError.
struct AdadeltaConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1};
  /// The part that running means keep of themselves in a step, between 0 and 1.
  Setting<double> rho{usual, 0.9};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-6};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(AdadeltaOptions, AdadeltaConfig, adadelta_rule, lr, rho, eps, weight_decay, maximize);

/// State of Adadelta for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(AdadeltaParamState, square_avg, acc_delta);

/// Steps of the size of recent steps over that of recent gradients (Zeiler 2012); lr scales them.
class Adadelta : public RuleOptimizer<AdadeltaOptions, AdadeltaParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule rprop_rule;

/// Options of Rprop; a number out of its range is a ValueError.
struct RpropConfig {
  using Pair = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-2};
  /// The factors of an element's step after its gradient's sign changed, between 0 and 1, and after
  /// it stayed, above 1.
  Setting<Pair> etas{usual, 0.5, 1.2};
  /// The least and the largest step of an element.
  Setting<Pair> step_sizes{usual, 1e-6, 50};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(RpropOptions, RpropConfig, rprop_rule, lr, etas, step_sizes, maximize);

/// State of Rprop for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(RpropParamState, prev, step_size);

/// Steps that know the sign of each element's gradient alone, and grow while it stays (Riedmiller
/// and Braun 1993).
class Rprop : public RuleOptimizer<RpropOptions, RpropParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule asgd_rule;

/// Options of ASGD; a number out of its range is a ValueError.
struct ASGDConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-2};
  /// The part of an element that a step takes off, times the rate; 1e-4 by default.
  Setting<double> lambd{usual, 1e-4};
  /// The power of the steps' number by which the rate falls; 0.75 by default.
  Setting<double> alpha{usual, 0.75};
  /// The step from which on values are averaged; 1e6 by default.
  Setting<double> t0{usual, 1e6};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(ASGDOptions, ASGDConfig, asgd_rule, lr, lambd, alpha, t0, weight_decay, maximize);

/// State of ASGD for a parameter: the count of steps and a tensor of the parameter's shape.
TAEDA_PARAM_STATE(ASGDParamState, ax);

/// Stochastic gradient descent with a falling rate; `ax` of a parameter's state, of its shape, is
/// the mean of its values from step t0 on (Polyak and Juditsky 1992).
class ASGD : public RuleOptimizer<ASGDOptions, ASGDParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
