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

void LionOptions::check() const { check_values(lion_rule, *this); }

void LionOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  weight_decay_ = f("weight_decay", weight_decay_);
  maximize_ = f("maximize", maximize_) != 0;
}

}  // namespace taeda::inline v0_2::optim
