#include "taeda/optim/adam_family.h"

#include <algorithm>
#include <cmath>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdamaxField : size_t { kXLr, kXBeta1, kXBeta2, kXEps, kXDecay, kXMaximize };
constexpr RuleField kAdamaxFields[] = {rate_field(2e-3),     beta_field(0, 0.9),
                                       beta_field(1, 0.999), eps_field(1e-8),
                                       decay_field(),        flag_field("maximize")};
constexpr RuleState kAdamaxStates[] = {{"exp_avg"}, {"exp_inf"}};

StepValues adamax_formula(const double* v, StepCount& count) {
  return step_values<AdamaxFormula>({descent(v[kXDecay], v[kXMaximize] != 0), v[kXBeta1],
                                     1 - v[kXBeta1], v[kXBeta2], v[kXEps],
                                     v[kXLr] / correction(v[kXBeta1], count.step)});
}

enum NAdamField : size_t {
  kNLr,
  kNBeta1,
  kNBeta2,
  kNEps,
  kNDecay,
  kNMomentumDecay,
  kNDecoupled,
  kNMaximize
};
constexpr RuleField kNAdamFields[] = {
    rate_field(2e-3),
    beta_field(0, 0.9),
    beta_field(1, 0.999),
    eps_field(1e-8),
    decay_field(),
    {"momentum_decay", "momentum_decay", -1, 4e-3, Range::AtLeast0,
     "Invalid momentum_decay value: ", "how fast the momentum grows"},
    flag_field("decoupled_weight_decay"),
    flag_field("maximize")};
constexpr RuleState kMomentStates[] = {{"exp_avg"}, {"exp_avg_sq"}};
constexpr const char* kNAdamNumbers[] = {"mu_product"};

StepValues nadam_formula(const double* v, StepCount& count) {
  const auto momentum = [&](double step) {
    return v[kNBeta1] * (1 - 0.5 * std::pow(0.96, step * v[kNMomentumDecay]));
  };
  const double mu = momentum(count.step), next_mu = momentum(count.step + 1);
  const double product = count.set(0, count.numbers[0] * mu), lr = v[kNLr];
  return step_values<NAdamFormula>(
      {descent(lr, v[kNDecay], v[kNDecoupled] != 0, v[kNMaximize] != 0), v[kNBeta1], 1 - v[kNBeta1],
       v[kNBeta2], 1 - v[kNBeta2], v[kNEps], std::sqrt(correction(v[kNBeta2], count.step)),
       lr * (1 - mu) / (1 - product), lr * next_mu / (1 - product * next_mu)});
}

enum RAdamField : size_t { kRLr, kRBeta1, kRBeta2, kREps, kRDecay, kRDecoupled, kRMaximize };
constexpr RuleField kRAdamFields[] = {rate_field(1e-3),      beta_field(0, 0.9),
                                      beta_field(1, 0.999),  eps_field(1e-8),
                                      decay_field(),         flag_field("decoupled_weight_decay"),
                                      flag_field("maximize")};

StepValues radam_formula(const double* v, StepCount& count) {
  const double beta2 = v[kRBeta2], step = count.step, correction2 = correction(beta2, step);
  const double end = 2 / (1 - beta2) - 1;
  const double rho = end - 2 * step * std::pow(beta2, step) / correction2;
  const double rectified =
      rho > 5 ? std::sqrt((rho - 4) * (rho - 2) * end / ((end - 4) * (end - 2) * rho)) *
                    std::sqrt(correction2)
              : 0;
  return step_values<RAdamFormula>(
      {descent(v[kRLr], v[kRDecay], v[kRDecoupled] != 0, v[kRMaximize] != 0), v[kRBeta1],
       1 - v[kRBeta1], beta2, 1 - beta2, v[kREps], v[kRLr] / correction(v[kRBeta1], step),
       rectified});
}

}  // namespace

constinit const Rule adamax_rule = {.name = "Adamax",
                                    .fields = kAdamaxFields,
                                    .states = kAdamaxStates,
                                    .waits = true,
                                    .formula = adamax_formula};
constinit const Rule nadam_rule = {
    .name = "NAdam",
    .fields = kNAdamFields,
    .states = kMomentStates,
    .numbers = kNAdamNumbers,
    .first_numbers = [](const double*, StepCount& c) { c.set(0, 1); },
    .waits = true,
    .formula = nadam_formula};
constinit const Rule radam_rule = {.name = "RAdam",
                                   .fields = kRAdamFields,
                                   .states = kMomentStates,
                                   .waits = true,
                                   .formula = radam_formula};

void AdamaxOptions::visit(const NumberVisitor& f) {
  visit_numbers(adamax_rule, f, lr_, betas_, eps_, weight_decay_, maximize_);
}

void NAdamOptions::visit(const NumberVisitor& f) {
  visit_numbers(nadam_rule, f, lr_, betas_, eps_, weight_decay_, momentum_decay_,
                decoupled_weight_decay_, maximize_);
}

void RAdamOptions::visit(const NumberVisitor& f) {
  visit_numbers(radam_rule, f, lr_, betas_, eps_, weight_decay_, decoupled_weight_decay_,
                maximize_);
}

}  // namespace taeda::inline v0_2::optim
