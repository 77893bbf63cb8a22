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
    rate_field(1e-3),
    beta_field(0, 0.9),
    beta_field(1, 0.999),
    {"beta3", "betas", 2, 0.9999, Range::From0Below1,
     "Invalid beta parameter at index 2: ", "what the slow mean keeps of itself in a step"},
    {"alpha", "alpha", -1, 5, Range::AtLeast0,
     "Invalid alpha value: ", "the weight of the slow mean"},
    {"beta3_warmup", "beta3_warmup", -1, 0, Range::AtLeast0,
     "Invalid beta3_warmup value: ", "in how many steps the third beta is reached"},
    {"alpha_warmup", "alpha_warmup", -1, 0, Range::AtLeast0,
     "Invalid alpha_warmup value: ", "in how many steps the weight is reached"},
    eps_field(1e-8),
    decay_field(),
    flag_field("maximize")};
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

void AdEMAMixOptions::visit(const NumberVisitor& f) {
  visit_numbers(ademamix_rule, f, lr_, betas_, alpha_, beta3_warmup_, alpha_warmup_, eps_,
                weight_decay_, maximize_);
}

}  // namespace taeda::inline v0_2::optim
