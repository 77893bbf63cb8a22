// Adam and AdamW.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adam; a number out of its range is a ValueError.
class AdamOptions final : public RuleOptions<AdamOptions, adam_rule> {
 public:
  TAEDA_LEARNING_RATE(AdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  /// Whether the divisor is the largest mean of squares so far; false by default.
  TAEDA_OPTION(bool, amsgrad) = false;
  TAEDA_MAXIMIZE();
};

/// Options of AdamW; a number out of its range is a ValueError.
class AdamWOptions final : public RuleOptions<AdamWOptions, adamw_rule> {
 public:
  TAEDA_LEARNING_RATE(AdamWOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(1e-2);
  /// Whether the divisor is the largest mean of squares so far; false by default.
  TAEDA_OPTION(bool, amsgrad) = false;
  TAEDA_MAXIMIZE();
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
