// Relatives of Adam: Adamax, NAdam, RAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

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

extern const Rule adamax_rule;  ///< What a step does to a parameter and its state.

/// Adam with the largest of the decayed gradients in place of their mean square (Kingma and Ba
/// 2015, section 7.1).
class Adamax : public RuleOptimizer<AdamaxOptions, AdamaxParamState, adamax_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
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

extern const Rule nadam_rule;  ///< What a step does to a parameter and its state.

/// Adam with Nesterov momentum that grows with the steps (Dozat 2016).
class NAdam : public RuleOptimizer<NAdamOptions, NAdamParamState, nadam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
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

extern const Rule radam_rule;  ///< What a step does to a parameter and its state.

/// Adam without its second moment until there are enough steps to know it, and with its variance
/// rectified from then on (Liu et al. 2020).
class RAdam : public RuleOptimizer<RAdamOptions, RAdamParamState, radam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
