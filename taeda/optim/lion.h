// Lion.
#pragma once

#include <tuple>

#include "taeda/optim/composed.h"

namespace taeda::inline v0_2::optim {

class LionOptions : public OptimizerCloneableOptions<LionOptions> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(LionOptions, 1e-4)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// The momentum's weight in the step, and its weight in the next momentum.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.99};
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Lion keeps for a parameter.
class LionParamState final : public OptimizerCloneableParamState<LionParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
};

/// Steps of one size: the sign of the gradient mixed with its momentum (Chen et al. 2023).
class Lion : public ComposedOptimizer {
 public:
  Lion(std::vector<OptimizerParamGroup> groups, LionOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  Lion(std::vector<Tensor> params, LionOptions defaults = {})
      : Lion(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
             std::move(defaults)) {}

 private:
  const char* kind() const override { return "Lion"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new LionParamState);
  }
  ArrayRef<const char*> state_names() const override { return LionParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
};

}  // namespace taeda::optim
