#include "taeda/optim/lion.h"

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum LionField : size_t { kLionLr, kLionBeta1, kLionBeta2, kLionDecay, kLionMaximize };
constexpr RuleField kLionFields[] = {rate_field(1e-4), beta_field(0, 0.9), beta_field(1, 0.99),
                                     decay_field(), flag_field("maximize")};
constexpr RuleState kLionStates[] = {{"exp_avg"}};

StepValues lion_formula(const double* v, StepCount&) {
  return step_values<LionFormula>({descent(v[kLionLr], v[kLionDecay], true, v[kLionMaximize] != 0),
                                   v[kLionBeta1], 1 - v[kLionBeta1], v[kLionBeta2],
                                   1 - v[kLionBeta2], v[kLionLr]});
}

}  // namespace

constinit const Rule lion_rule = {
    .name = "Lion", .fields = kLionFields, .states = kLionStates, .formula = lion_formula};

void LionOptions::visit(const NumberVisitor& f) {
  visit_numbers(lion_rule, f, lr_, betas_, weight_decay_, maximize_);
}

}  // namespace taeda::inline v0_2::optim
