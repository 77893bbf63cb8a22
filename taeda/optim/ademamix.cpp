#include "taeda/optim/ademamix.h"

#include <algorithm>
#include <cmath>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdEMAMixField : size_t {
  kELr,
  kEBeta1,
  kEBeta2,
  kEBeta3,
  kEAlpha,
  kEBeta3Warmup,
  kEAlphaWarmup,
  kEEps,
  kEDecay,
  kEMaximize
};
constexpr RuleField kAdEMAMixFields[] = {
    rate_field<&AdEMAMixConfig::lr>(),
    beta_field<&AdEMAMixConfig::betas, 0>(),
    beta_field<&AdEMAMixConfig::betas, 1>(),
    beta_field<&AdEMAMixConfig::betas, 2>(),
    field<&AdEMAMixConfig::alpha>({"alpha", Range::AtLeast0, "Invalid alpha value: "}),
    field<&AdEMAMixConfig::beta3_warmup>(
        {"beta3_warmup", Range::AtLeast0, "Invalid beta3_warmup value: "}),
    field<&AdEMAMixConfig::alpha_warmup>(
        {"alpha_warmup", Range::AtLeast0, "Invalid alpha_warmup value: "}),
    eps_field<&AdEMAMixConfig::eps>(),
    decay_field<&AdEMAMixConfig::weight_decay>(),
    field<&AdEMAMixConfig::maximize>({"maximize"})};
constexpr RuleState kAdEMAMixStates[] = {{"exp_avg_fast"}, {"exp_avg_slow"}, {"exp_avg_sq"}};

/// From beta1 on, so that the time after which a gradient counts half grows evenly.
double slow_beta(const double* v, double step) {
  const double first = std::log(v[kEBeta1]), last = std::log(v[kEBeta3]);
  if (step >= v[kEBeta3Warmup] || v[kEBeta1] == 0 || v[kEBeta3] == 0) return v[kEBeta3];
  const double part = step / v[kEBeta3Warmup];
  return std::min(std::exp(first * last / ((1 - part) * last + part * first)), v[kEBeta3]);
}

StepValues ademamix_formula(const double* v, StepCount& count) {
  const double step = count.step, lr = v[kELr], beta3 = slow_beta(v, step);
  const double alpha = step < v[kEAlphaWarmup] ? v[kEAlpha] * step / v[kEAlphaWarmup] : v[kEAlpha];
  return step_values<AdEMAMixFormula>(
      {descent(lr, v[kEDecay], true, v[kEMaximize] != 0), v[kEBeta1], 1 - v[kEBeta1], v[kEBeta2],
       1 - v[kEBeta2], beta3, 1 - beta3, v[kEEps], std::sqrt(correction(v[kEBeta2], step)),
       lr / correction(v[kEBeta1], step), lr * alpha});
}

}  // namespace

constinit const Rule ademamix_rule = {.name = "AdEMAMix",
                                      .fields = kAdEMAMixFields,
                                      .states = kAdEMAMixStates,
                                      .waits = true,
                                      .formula = ademamix_formula};

}  // namespace taeda::inline v0_2::optim
