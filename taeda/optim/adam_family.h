// Relatives of Adam: Adamax, NAdam, RAdam.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

extern const Rule adamax_rule;  ///< What a step does to a parameter and its state.

/// Options of Adamax.
class AdamaxOptions : public RuleOptions<AdamaxOptions, adamax_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamaxOptions, 2e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the means of gradients and of their squares keep of themselves in a step, from 0 to
  /// below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether steps go up.
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
class Adamax : public RuleOptimizer<AdamaxOptions, AdamaxParamState, adamax_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

extern const Rule nadam_rule;  ///< What a step does to a parameter and its state.

/// Options of NAdam.
class NAdamOptions : public RuleOptions<NAdamOptions, nadam_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(NAdamOptions, 2e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the means of gradients and of their squares keep of themselves in a step, from 0 to
  /// below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// How fast the momentum grows, at least 0.
  TAEDA_OPTION(double, momentum_decay) = 4e-3;
  /// Whether the decay does not pass through the means.
  TAEDA_OPTION(bool, decoupled_weight_decay) = false;
  /// Whether steps go up.
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
class NAdam : public RuleOptimizer<NAdamOptions, NAdamParamState, nadam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

extern const Rule radam_rule;  ///< What a step does to a parameter and its state.

/// Options of RAdam.
class RAdamOptions : public RuleOptions<RAdamOptions, radam_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(RAdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the means of gradients and of their squares keep of themselves in a step, from 0 to
  /// below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether the decay does not pass through the means.
  TAEDA_OPTION(bool, decoupled_weight_decay) = false;
  /// Whether steps go up.
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
class RAdam : public RuleOptimizer<RAdamOptions, RAdamParamState, radam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
