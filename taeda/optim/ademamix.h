// AdEMAMix.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of AdEMAMix.
class AdEMAMixOptions : public RuleOptions<AdEMAMixOptions, ademamix_rule> {
 public:
  using Betas = std::tuple<double, double, double>;
  TAEDA_LEARNING_RATE(AdEMAMixOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }
  /// What the fast mean of gradients, the mean of their squares and the slow mean keep in a step.
  TAEDA_OPTION(Betas, betas) = {0.9, 0.999, 0.9999};
  /// The weight of the slow mean.
  TAEDA_OPTION(double, alpha) = 5;
  /// In how many steps the third beta reaches its value; 0: it has it at once.
  TAEDA_OPTION(int64_t, beta3_warmup) = 0;
  /// In how many the weight reaches its value.
  TAEDA_OPTION(int64_t, alpha_warmup) = 0;
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// What AdEMAMix keeps for a parameter.
class AdEMAMixParamState final : public OptimizerCloneableParamState<AdEMAMixParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg_fast, exp_avg_slow, exp_avg_sq)
};

/// AdamW with a second mean of gradients that forgets slowly (Pagliardini et al. 2024,
/// arXiv:2409.03137, algorithm 1).
class AdEMAMix : public RuleOptimizer<AdEMAMixOptions, AdEMAMixParamState, ademamix_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
