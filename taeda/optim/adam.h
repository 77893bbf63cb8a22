// Adam and AdamW.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adam_rule, adamw_rule;

/// Options of Adam or AdamW, whose decay is decoupled; a number out of its range is a ValueError.
template <bool kDecoupled>
struct AdamFamilyConfig {
  using Betas = std::tuple<double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-3};
  /// The parts that the running means of gradients and of their squares keep of themselves in a
  /// step, each at least 0 and below 1.
  Setting<Betas> betas{usual, 0.9, 0.999};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, kDecoupled ? 1e-2 : 0.0};
  /// Whether the divisor is the largest mean of squares so far; false by default.
  Setting<bool> amsgrad{usual, false};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
using AdamConfig = AdamFamilyConfig<false>;
using AdamWConfig = AdamFamilyConfig<true>;

TAEDA_OPTIONS(AdamOptions, AdamConfig, adam_rule, lr, betas, eps, weight_decay, amsgrad, maximize);

TAEDA_OPTIONS(AdamWOptions, AdamWConfig, adamw_rule, lr, betas, eps, weight_decay, amsgrad,
              maximize);

/// State of Adam for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(AdamParamState, exp_avg, exp_avg_sq, max_exp_avg_sq);

/// State of AdamW for a parameter: the count of steps and tensors of the parameter's shape.
TAEDA_PARAM_STATE(AdamWParamState, exp_avg, exp_avg_sq, max_exp_avg_sq);

/// Adam (Kingma and Ba 2015, arXiv:1412.6980) and, by option, AMSGrad (Reddi et al. 2018): p -= lr
/// * m / (sqrt(v) + eps) of each element, m and v the running means of g and g^2 without their bias
/// to 0. Weight decay is added to the gradient.
class Adam : public RuleOptimizer<AdamOptions, AdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019, arXiv:1711.05101): each element is
/// first multiplied by 1 - lr * weight_decay.
class AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
