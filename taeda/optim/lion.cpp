#include "taeda/optim/lion.h"

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum LionField : size_t { kLionLr, kLionBeta1, kLionBeta2, kLionDecay, kLionMaximize };
constexpr RuleField kLionFields[] = {
    rate_field<&LionConfig::lr>(), beta_field<&LionConfig::betas, 0>(),
    beta_field<&LionConfig::betas, 1>(), decay_field<&LionConfig::weight_decay>(),
    field<&LionConfig::maximize>({"maximize"})};
constexpr RuleState kLionStates[] = {{"exp_avg"}};

StepValues lion_formula(const double* v, StepCount&) {
  return step_values<LionFormula>({descent(v[kLionLr], v[kLionDecay], true, v[kLionMaximize] != 0),
                                   v[kLionBeta1], 1 - v[kLionBeta1], v[kLionBeta2],
                                   1 - v[kLionBeta2], v[kLionLr]});
}

}  // namespace

constinit const Rule lion_rule = {
    .name = "Lion", .fields = kLionFields, .states = kLionStates, .formula = lion_formula};

}  // namespace taeda::inline v0_2::optim
