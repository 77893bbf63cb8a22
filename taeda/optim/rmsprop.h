// RMSprop.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

class RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
 public:
  TAEDA_LEARNING_RATE(RMSpropOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_OPTION(double, alpha) = 0.99;
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(double, momentum) = 0;
  TAEDA_OPTION(bool, centered) = false;
};

/// What RMSprop keeps for a parameter.
class RMSpropParamState final : public OptimizerCloneableParamState<RMSpropParamState> {
 public:
  static constexpr const char* kNames[] = {"square_avg", "grad_avg", "momentum_buffer"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, square_avg)
  TAEDA_STATE_TENSOR(1, grad_avg)
  TAEDA_STATE_TENSOR(2, momentum_buffer)
};

/// p -= lr * g / (sqrt(v) + eps) with v the running mean of g^2 (Hinton's lecture), less the square
/// of the running mean of g when centred (Graves 2013); with momentum the quotient is accumulated
/// first.
class RMSprop : public Optimizer {
 public:
  RMSprop(std::vector<OptimizerParamGroup> groups, RMSpropOptions defaults = {})
      : Optimizer(std::move(groups), defaults.clone()) {}
  RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                std::move(defaults)) {}

 private:
  const char* kind() const override { return "RMSprop"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new RMSpropParamState);
  }
  ArrayRef<const char*> state_names() const override { return RMSpropParamState::kNames; }
  size_t lasting_states() const override { return 1; }
  bool wants_state(const OptimizerOptions&, size_t k) const override;
  void launch(const OptimizerOptions&, const ParamList&) override;
};

}  // namespace taeda::optim
