#include "taeda/optim/adam_family.h"

#include <algorithm>
#include <cmath>

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdamaxField : size_t { kXLr, kXBeta1, kXBeta2, kXEps, kXDecay, kXMaximize };
constexpr RuleField kAdamaxFields[] = {rate_field<&AdamaxConfig::lr>(),
                                       beta_field<&AdamaxConfig::betas, 0>(),
                                       beta_field<&AdamaxConfig::betas, 1>(),
                                       eps_field<&AdamaxConfig::eps>(),
                                       decay_field<&AdamaxConfig::weight_decay>(),
                                       field<&AdamaxConfig::maximize>({"maximize"})};
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
    rate_field<&NAdamConfig::lr>(),
    beta_field<&NAdamConfig::betas, 0>(),
    beta_field<&NAdamConfig::betas, 1>(),
    eps_field<&NAdamConfig::eps>(),
    decay_field<&NAdamConfig::weight_decay>(),
    field<&NAdamConfig::momentum_decay>(
        {"momentum_decay", Range::AtLeast0, "Invalid momentum_decay value: "}),
    field<&NAdamConfig::decoupled_weight_decay>({"decoupled_weight_decay"}),
    field<&NAdamConfig::maximize>({"maximize"})};
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
constexpr RuleField kRAdamFields[] = {
    rate_field<&RAdamConfig::lr>(),
    beta_field<&RAdamConfig::betas, 0>(),
    beta_field<&RAdamConfig::betas, 1>(),
    eps_field<&RAdamConfig::eps>(),
    decay_field<&RAdamConfig::weight_decay>(),
    field<&RAdamConfig::decoupled_weight_decay>({"decoupled_weight_decay"}),
    field<&RAdamConfig::maximize>({"maximize"})};

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

}  // namespace taeda::inline v0_2::optim
