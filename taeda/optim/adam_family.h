// Relatives of Adam: Adamax, NAdam, RAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adamax_rule;

/// Options of Adamax; a number out of its range is a ValueError.
struct AdamaxConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 2e-3};
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(AdamaxOptions, AdamaxConfig, adamax_rule, lr, betas, eps, weight_decay, maximize);

/// State of Adamax for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(AdamaxParamState, exp_avg, exp_inf);

/// Adam with the largest of the decayed gradients of an element in place of their mean square
/// (Kingma and Ba 2015, arXiv:1412.6980, section 7.1).
class Adamax : public RuleOptimizer<AdamaxOptions, AdamaxParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule nadam_rule;

/// Options of NAdam; a number out of its range is a ValueError.
struct NAdamConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 2e-3};
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// How fast the momentum grows, at least 0.
  Setting<double> momentum_decay{usual, 4e-3};
  /// Whether weight decay multiplies parameters, rather than being added to gradients; false by
  /// default.
  Setting<bool> decoupled_weight_decay{usual, false};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};

/// The same for programs written for libtorch.
class NAdamOptions : public RuleOptions<NAdamOptions, NAdamConfig, nadam_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr)
  TAEDA_OPTION(betas)
  TAEDA_OPTION(eps)
  TAEDA_OPTION(weight_decay) TAEDA_OPTION(momentum_decay) TAEDA_OPTION(decoupled_weight_decay)
      TAEDA_OPTION(maximize)
};

/// State of NAdam for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(NAdamParamState, exp_avg, exp_avg_sq);

/// Adam with Nesterov's momentum, whose weight grows with the steps to its default (Dozat 2016).
class NAdam : public RuleOptimizer<NAdamOptions, NAdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule radam_rule;

/// Options of RAdam; a number out of its range is a ValueError.
struct RAdamConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-3};
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether weight decay multiplies parameters, rather than being added to gradients; false by
  /// default.
  Setting<bool> decoupled_weight_decay{usual, false};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};

/// The same for programs written for libtorch.
class RAdamOptions : public RuleOptions<RAdamOptions, RAdamConfig, radam_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr)
  TAEDA_OPTION(betas)
  TAEDA_OPTION(eps)
  TAEDA_OPTION(weight_decay) TAEDA_OPTION(decoupled_weight_decay) TAEDA_OPTION(maximize)
};

/// State of RAdam for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(RAdamParamState, exp_avg, exp_avg_sq);

/// Adam without its second moment until there are enough steps to know it, by default 5, and with
/// its variance rectified from then on (Liu et al. 2020, arXiv:1908.03265).
class RAdam : public RuleOptimizer<RAdamOptions, RAdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
