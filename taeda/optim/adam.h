// Adam and AdamW.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adam_rule;

/// Options of Adam; a number out of its range is a ValueError.
class AdamOptions final : public RuleOptions<AdamOptions, adam_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether the divisor is the largest mean of squares so far; false by default.
  TAEDA_OPTION(bool, amsgrad) = false;
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  TAEDA_OPTION(bool, maximize) = false;
};

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adamw_rule;

/// Options of AdamW; a number out of its range is a ValueError.
class AdamWOptions final : public RuleOptions<AdamWOptions, adamw_rule> {
 public:
  using Betas = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(AdamWOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  TAEDA_OPTION(double, eps) = 1e-8;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 1e-2;
  /// Whether the divisor is the largest mean of squares so far; false by default.
  TAEDA_OPTION(bool, amsgrad) = false;
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  TAEDA_OPTION(bool, maximize) = false;
};

/// State of Adam for a parameter: the count of steps and tensors of the parameter's shape.
class AdamParamState final : public OptimizerCloneableParamState<AdamParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_avg_sq, max_exp_avg_sq)
};

/// State of AdamW for a parameter: the count of steps and tensors of the parameter's shape.
class AdamWParamState final : public OptimizerCloneableParamState<AdamWParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_avg_sq, max_exp_avg_sq)
};

/// Adam (Kingma and Ba 2015, arXiv:1412.6980) and, by option, AMSGrad (Reddi et al. 2018): p -= lr
/// * m / (sqrt(v) + eps) of each element, m and v the running means of g and g^2 without their bias
/// to 0. Weight decay is added to the gradient.
class Adam : public RuleOptimizer<AdamOptions, AdamParamState, adam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101): each element is
/// first multiplied by 1 - lr * weight_decay.
class AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState, adamw_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
