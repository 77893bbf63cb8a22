#include "taeda/optim/adam.h"

#include <array>
#include <cmath>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdamField : size_t {
  kLr,
  kBeta1,
  kBeta2,
  kEps,
  kDecay,
  kAmsgrad,
  kMaximize,
  kDecoupled,
  kAdamFieldCount
};
/// The decay of AdamW is decoupled.
constexpr std::array<RuleField, kAdamFieldCount> adam_fields(double decay, bool decoupled) {
  return {rate_field(1e-3),
          beta_field(0, 0.9),
          beta_field(1, 0.999),
          eps_field(1e-8),
          decay_field(decay),
          flag_field("amsgrad"),
          flag_field("maximize"),
          RuleField{"decoupled_weight_decay", "decoupled_weight_decay", -1, decoupled ? 1.0 : 0.0}};
}
constexpr auto kAdamFields = adam_fields(0, false), kAdamWFields = adam_fields(1e-2, true);
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
                                  .fields = kAdamFields,
                                  .states = kAdamStates,
                                  .instead = ", please consider SparseAdam instead",
                                  .formula = adam_formula};
constinit const Rule adamw_rule = {.name = "AdamW",
                                   .fields = kAdamWFields,
                                   .states = kAdamStates,
                                   .instead = ", please consider SparseAdam instead",
                                   .formula = adam_formula};

void AdamOptions::visit(const NumberVisitor& f) {
  visit_numbers(adam_rule, f, lr_, betas_, eps_, weight_decay_, amsgrad_, maximize_);
}

void AdamWOptions::visit(const NumberVisitor& f) {
  visit_numbers(adamw_rule, f, lr_, betas_, eps_, weight_decay_, amsgrad_, maximize_);
}

}  // namespace taeda::inline v0_2::optim
