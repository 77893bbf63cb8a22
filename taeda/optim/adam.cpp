#include "taeda/optim/adam.h"

#include <cmath>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdamField : size_t { kLr, kBeta1, kBeta2, kEps, kDecay, kAmsgrad, kMaximize, kDecoupled };
/// The decay of AdamW is decoupled.
template <bool kIsDecoupled, class Config = AdamFamilyConfig<kIsDecoupled>>
constexpr RuleField kAdamFields[] = {rate_field<&Config::lr>(),
                                     beta_field<&Config::betas, 0>(),
                                     beta_field<&Config::betas, 1>(),
                                     eps_field<&Config::eps>(),
                                     decay_field<&Config::weight_decay>(),
                                     field<&Config::amsgrad>({"amsgrad"}),
                                     field<&Config::maximize>({"maximize"}),
                                     {.name = "decoupled_weight_decay", .fallback = kIsDecoupled}};
constexpr RuleState kAdamStates[] = {
    {"exp_avg"}, {"exp_avg_sq"}, {"max_exp_avg_sq", [](const double* v) {
                                    return v[kAmsgrad] != 0;
                                  }}};

template <bool amsgrad>
AdamFormulas<double, amsgrad> adam_numbers(const double* v, double step) {
  return {descent(v[kLr], v[kDecay], v[kDecoupled] != 0, v[kMaximize] != 0),
          v[kBeta1],
          1 - v[kBeta1],
          v[kBeta2],
          1 - v[kBeta2],
          v[kEps],
          v[kLr] / correction(v[kBeta1], step),
          std::sqrt(correction(v[kBeta2], step)),
          v[kLr],
          step};
}

StepValues adam_formula(const double* v, StepCount& count) {
  return v[kAmsgrad] != 0 ? step_values<AmsgradFormula>(adam_numbers<true>(v, count.step))
                          : step_values<AdamFormula>(adam_numbers<false>(v, count.step));
}

}  // namespace

constinit const Rule adam_rule = {.name = "Adam",
                                  .fields = kAdamFields<false>,
                                  .states = kAdamStates,
                                  .instead = ", please consider SparseAdam instead",
                                  .formula = adam_formula};
constinit const Rule adamw_rule = {.name = "AdamW",
                                   .fields = kAdamFields<true>,
                                   .states = kAdamStates,
                                   .instead = ", please consider SparseAdam instead",
                                   .formula = adam_formula};

}  // namespace taeda::inline v0_2::optim
