// SparseAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule sparse_adam_rule;

/// Options of SparseAdam; a number out of its range is a ValueError.
class SparseAdamOptions : public RuleOptions<SparseAdamOptions, sparse_adam_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(SparseAdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  TAEDA_OPTION(bool, maximize) = false;
};

/// State of SparseAdam for a parameter: the count of steps and tensors of the parameter's shape.
class SparseAdamParamState final : public OptimizerCloneableParamState<SparseAdamParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_avg_sq)
};

/// Adam (Kingma and Ba 2015) for sparse gradients, made lazy: moments and parameters change where
/// the gradient has elements, and the moments of all others do not fade. Steps count for the whole
/// parameter. Throws Error for dense gradients.
class SparseAdam : public RuleOptimizer<SparseAdamOptions, SparseAdamParamState, sparse_adam_rule> {
 public:
  /// Throws ValueError for a parameter that is sparse itself.
  SparseAdam(std::vector<OptimizerParamGroup> groups, SparseAdamOptions defaults = {});
  SparseAdam(std::vector<Tensor> params, SparseAdamOptions defaults = {})
      : SparseAdam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                   std::move(defaults)) {}
};

}  // namespace taeda::inline v0_2::optim
