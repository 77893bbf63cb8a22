// SparseAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule sparse_adam_rule;

/// Options of SparseAdam; a number out of its range is a ValueError.
struct SparseAdamConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, above 0.
  Setting<double> lr{usual, 1e-3};
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.999};
  /// What keeps divisors from 0, above 0.
  Setting<double> eps{usual, 1e-8};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};

/// The same for programs written for libtorch.
class SparseAdamOptions
    : public RuleOptions<SparseAdamOptions, SparseAdamConfig, sparse_adam_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr) TAEDA_OPTION(betas) TAEDA_OPTION(eps) TAEDA_OPTION(maximize)
};

/// State of SparseAdam for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(SparseAdamParamState, exp_avg, exp_avg_sq);

/// Adam (Kingma and Ba 2015) for sparse gradients, made lazy: moments and parameters change where
/// the gradient has elements, and the moments of all others do not fade. Steps count for the whole
/// parameter. Throws Error for dense gradients, and ValueError for a
/// parameter that is sparse itself.
class SparseAdam : public RuleOptimizer<SparseAdamOptions, SparseAdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
