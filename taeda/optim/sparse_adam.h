// SparseAdam.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of SparseAdam; a number out of its range is a ValueError.
class SparseAdamOptions : public RuleOptions<SparseAdamOptions, sparse_adam_rule> {
 public:
  TAEDA_LEARNING_RATE(SparseAdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_MAXIMIZE();
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
