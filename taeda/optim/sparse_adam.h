// SparseAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

class SparseAdamOptions : public OptimizerCloneableOptions<SparseAdamOptions> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(SparseAdamOptions, 1e-3)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What SparseAdam keeps for a parameter.
class SparseAdamParamState final : public OptimizerCloneableParamState<SparseAdamParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
};

/// Adam (Kingma and Ba 2015) for sparse gradients, made lazy: moments and parameters change where
/// the gradient has elements, and the moments of all others do not fade. Steps count for the whole
/// parameter. Throws Error for dense gradients.
class SparseAdam : public Optimizer {
 public:
  SparseAdam(std::vector<OptimizerParamGroup> groups, SparseAdamOptions defaults = {});
  SparseAdam(std::vector<Tensor> params, SparseAdamOptions defaults = {})
      : SparseAdam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                   std::move(defaults)) {}

 private:
  const char* kind() const override { return "SparseAdam"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new SparseAdamParamState);
  }
  ArrayRef<const char*> state_names() const override { return SparseAdamParamState::kNames; }
  size_t lasting_states() const override { return 2; }
  bool wants_state(const OptimizerOptions&, size_t) const override { return true; }
  bool takes_dense_gradients() const override { return false; }
  SparseGradients sparse_gradients(const OptimizerOptions&) const override {
    return SparseGradients::Rows;
  }
  void update_rows(const OptimizerOptions& options, Rows& rows) const override;
};

}  // namespace taeda::optim
