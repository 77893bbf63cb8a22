// AdEMAMix.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule ademamix_rule;

/// Options of AdEMAMix.
struct AdEMAMixConfig {
  using Betas = std::tuple<double, double, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-3};
  /// What the fast mean of gradients, the mean of their squares and the slow mean keep in a step.
  Setting<Betas> betas{usual, 0.9, 0.999, 0.9999};
  /// The weight of the slow mean.
  Setting<double> alpha{usual, 5};
  /// In how many steps the third beta reaches its value; 0: it has it at once.
  Setting<int64_t> beta3_warmup{usual, 0};
  /// In how many the weight reaches its value.
  Setting<int64_t> alpha_warmup{usual, 0};
  /// What keeps divisors from 0, at least 0.
  Setting<double> eps{usual, 1e-8};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};

/// The same for programs written for libtorch.
class AdEMAMixOptions : public RuleOptions<AdEMAMixOptions, AdEMAMixConfig, ademamix_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr)
  TAEDA_OPTION(betas)
  TAEDA_OPTION(alpha)
  TAEDA_OPTION(beta3_warmup) TAEDA_OPTION(alpha_warmup) TAEDA_OPTION(eps) TAEDA_OPTION(weight_decay)
      TAEDA_OPTION(maximize)
};

/// What AdEMAMix keeps for a parameter.
TAEDA_PARAM_STATE(AdEMAMixParamState, exp_avg_fast, exp_avg_slow, exp_avg_sq);

/// AdamW with a second mean of gradients that forgets slowly (Pagliardini et al. 2024,
/// arXiv:2409.03137, algorithm 1).
class AdEMAMix : public RuleOptimizer<AdEMAMixOptions, AdEMAMixParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
