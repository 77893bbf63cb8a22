// Relatives of Adam: Adamax, NAdam, RAdam.
#pragma once

#include <tuple>

#include "taeda/optim/composed.h"

namespace taeda::inline v0_2::optim {

class AdamaxOptions : public OptimizerCloneableOptions<AdamaxOptions> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamaxOptions, 2e-3)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Adamax keeps for a parameter.
class AdamaxParamState final : public OptimizerCloneableParamState<AdamaxParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_inf"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_inf)
};

/// Adam with the largest of the decayed gradients in place of their mean square (Kingma and Ba
/// 2015, section 7.1).
class Adamax : public ComposedOptimizer {
 public:
  Adamax(std::vector<OptimizerParamGroup> groups, AdamaxOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  Adamax(std::vector<Tensor> params, AdamaxOptions defaults = {})
      : Adamax(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
               std::move(defaults)) {}

 private:
  const char* kind() const override { return "Adamax"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new AdamaxParamState);
  }
  ArrayRef<const char*> state_names() const override { return AdamaxParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
};

class NAdamOptions : public OptimizerCloneableOptions<NAdamOptions> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(NAdamOptions, 2e-3)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(double, momentum_decay) = 4e-3;
  TAEDA_OPTION(bool, decoupled_weight_decay) = false;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What NAdam keeps for a parameter.
class NAdamParamState final : public OptimizerCloneableParamState<NAdamParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
};

/// Adam with Nesterov momentum that grows with the steps (Dozat 2016).
class NAdam : public ComposedOptimizer {
 public:
  NAdam(std::vector<OptimizerParamGroup> groups, NAdamOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  NAdam(std::vector<Tensor> params, NAdamOptions defaults = {})
      : NAdam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults)) {}

 private:
  const char* kind() const override { return "NAdam"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new NAdamParamState);
  }
  ArrayRef<const char*> state_names() const override { return NAdamParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
  ArrayRef<const char*> number_names() const override {
    static constexpr const char* names[] = {"mu_product"};
    return names;
  }
  double first_number(const OptimizerOptions&, size_t) const override { return 1; }
};

class RAdamOptions : public OptimizerCloneableOptions<RAdamOptions> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(RAdamOptions, 1e-3)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  TAEDA_OPTION(double, eps) = 1e-8;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, decoupled_weight_decay) = false;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What RAdam keeps for a parameter.
class RAdamParamState final : public OptimizerCloneableParamState<RAdamParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
};

/// Adam without its second moment until there are enough steps to know it, and with its variance
/// rectified from then on (Liu et al. 2020).
class RAdam : public ComposedOptimizer {
 public:
  RAdam(std::vector<OptimizerParamGroup> groups, RAdamOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  RAdam(std::vector<Tensor> params, RAdamOptions defaults = {})
      : RAdam(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults)) {}

 private:
  const char* kind() const override { return "RAdam"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new RAdamParamState);
  }
  ArrayRef<const char*> state_names() const override { return RAdamParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
};

}  // namespace taeda::optim
