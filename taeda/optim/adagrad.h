// Adagrad.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

class AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
 public:
  TAEDA_LEARNING_RATE(AdagradOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  TAEDA_OPTION(double, lr_decay) = 0;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(double, initial_accumulator_value) = 0;
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
class Adagrad : public Optimizer {
 public:
  Adagrad(std::vector<OptimizerParamGroup> groups, AdagradOptions defaults = {})
      : Optimizer(std::move(groups), defaults.clone()) {}
  Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                std::move(defaults)) {}

 private:
  const char* kind() const override { return "Adagrad"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new AdagradParamState);
  }
  ArrayRef<const char*> state_names() const override { return AdagradParamState::kNames; }
  size_t lasting_states() const override { return 1; }
  bool wants_state(const OptimizerOptions&, size_t k) const override;
  Tensor make_state(const OptimizerOptions&, size_t k, const Tensor& param) const override;
  StepNumbers numbers(const OptimizerOptions&, int64_t step, bool fresh) override;
  SparseGradients sparse_gradients(const OptimizerOptions&) const override;
  void update_rows(const OptimizerOptions& options, Rows& rows) const override;
  void launch(const OptimizerOptions&, const ParamList&) override;
};

}  // namespace taeda::optim
