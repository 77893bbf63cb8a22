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

/// b = momentum * b + (1 - dampening) * g, where g includes weight_decay * p; p -= lr * b, or with
/// nesterov p -= lr * (g + momentum * b) (Sutskever et al. 2013, with PyTorch's place of lr).
class SGD : public Optimizer {
 public:
  SGD(std::vector<OptimizerParamGroup> groups, SGDOptions defaults)
      : Optimizer(std::move(groups), defaults.clone()) {}
  SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults)) {}

 private:
  const char* kind() const override { return "SGD"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new SGDParamState);
  }
  ArrayRef<const char*> state_names() const override { return SGDParamState::kNames; }
  size_t lasting_states() const override { return 0; }
  bool wants_state(const OptimizerOptions&, size_t k) const override;
  Tensor make_state(const OptimizerOptions&, size_t k, const Tensor& param) const override;
  StepNumbers numbers(const OptimizerOptions&, int64_t step, bool fresh) override;
  SparseGradients sparse_gradients(const OptimizerOptions&) const override;
  void update_rows(const OptimizerOptions& options, Rows& rows) const override;
  void launch(const OptimizerOptions&, const ParamList&) override;
};

}  // namespace taeda::optim
