// Adam and AdamW.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

extern const Rule adam_rule;  ///< What a step does to a parameter and its state.

/// Options of Adam.
class AdamOptions final : public RuleOptions<AdamOptions, adam_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the means of gradients and of their squares keep of themselves in a step, from 0 to
  /// below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether the largest mean of squares so far is divided by.
  TAEDA_OPTION(bool, amsgrad) = false;
  /// Whether steps go up.
  TAEDA_OPTION(bool, maximize) = false;
};

extern const Rule adamw_rule;  ///< What a step does to a parameter and its state.

/// Options of AdamW.
class AdamWOptions final : public RuleOptions<AdamWOptions, adamw_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamWOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the means of gradients and of their squares keep of themselves in a step, from 0 to
  /// below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 1e-2;
  /// Whether the largest mean of squares so far is divided by.
  TAEDA_OPTION(bool, amsgrad) = false;
  /// Whether steps go up.
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Adam keeps for a parameter.
class AdamParamState final : public OptimizerCloneableParamState<AdamParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
  TAEDA_STATE_TENSOR(2, max_exp_avg_sq)
};

/// What AdamW keeps for a parameter.
class AdamWParamState final : public OptimizerCloneableParamState<AdamWParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
  TAEDA_STATE_TENSOR(2, max_exp_avg_sq)
};

/// Adam (Kingma and Ba 2015), AMSGrad (Reddi et al. 2018). Weight decay is added to the gradient.
class Adam : public RuleOptimizer<AdamOptions, AdamParamState, adam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019): p *= 1 - lr * weight_decay first.
class AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState, adamw_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
