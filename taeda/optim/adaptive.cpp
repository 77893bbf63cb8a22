#include "taeda/optim/adaptive.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdadeltaField : size_t { kDLr, kDRho, kDEps, kDDecay, kDMaximize };
constexpr RuleField kAdadeltaFields[] = {
    rate_field<&AdadeltaConfig::lr>(),
    field<&AdadeltaConfig::rho>({"rho", Range::From0To1, "Invalid rho value: "}),
    eps_field<&AdadeltaConfig::eps>(), decay_field<&AdadeltaConfig::weight_decay>(),
    field<&AdadeltaConfig::maximize>({"maximize"})};
constexpr RuleState kAdadeltaStates[] = {{"square_avg"}, {"acc_delta"}};

StepValues adadelta_formula(const double* v, StepCount&) {
  return step_values<AdadeltaFormula>(
      {descent(v[kDDecay], v[kDMaximize] != 0), v[kDRho], 1 - v[kDRho], v[kDEps], v[kDLr]});
}

enum RpropField : size_t { kPLr, kPDown, kPUp, kPLeast, kPMost, kPMaximize };
constexpr RuleField kRpropFields[] = {
    rate_field<&RpropConfig::lr>(),
    field<&RpropConfig::etas, 0>({.name = "etaminus", .option = "etas"}),
    field<&RpropConfig::etas, 1>({.name = "etaplus", .option = "etas"}),
    field<&RpropConfig::step_sizes, 0>({.name = "step_size_min", .option = "step_sizes"}),
    field<&RpropConfig::step_sizes, 1>({.name = "step_size_max", .option = "step_sizes"}),
    field<&RpropConfig::maximize>({"maximize"})};
constexpr RuleState kRpropStates[] = {
    {"prev"}, {"step_size", nullptr, [](const double* v) { return v[kPLr]; }}};

void check_rprop(const double* v) {
  TAEDA_CHECK_VALUE(v[kPDown] > 0 && v[kPDown] < 1 && v[kPUp] > 1,
                    "Invalid eta values: ", v[kPDown], ", ", v[kPUp]);
  TAEDA_CHECK_VALUE(v[kPLeast] <= v[kPMost], "Invalid step sizes: ", v[kPLeast], ", ", v[kPMost]);
}

StepValues rprop_formula(const double* v, StepCount&) {
  return step_values<RpropFormula>(
      {descent(0, v[kPMaximize] != 0), v[kPDown], v[kPUp], v[kPLeast], v[kPMost]});
}

enum AsgdField : size_t { kALr, kALambd, kAAlpha, kAT0, kADecay, kAMaximize };
constexpr RuleField kAsgdFields[] = {
    rate_field<&ASGDConfig::lr>(),
    field<&ASGDConfig::lambd>({"lambd", Range::AtLeast0, "Invalid lambd value: "}),
    field<&ASGDConfig::alpha>({"alpha", Range::AtLeast0, "Invalid alpha value: "}),
    field<&ASGDConfig::t0>({"t0", Range::Number, "Invalid t0 value: "}),
    decay_field<&ASGDConfig::weight_decay>(),
    field<&ASGDConfig::maximize>({"maximize"})};
constexpr RuleState kAsgdStates[] = {{"ax"}};
/// The rate of the next step, and the weight of its result in the mean.
constexpr const char* kAsgdNumbers[] = {"eta", "mu"};

void first_asgd_numbers(const double* v, StepCount& count) {
  count.set(0, v[kALr]);
  count.set(1, 1);
}

StepValues asgd_formula(const double* v, StepCount& count) {
  const double lr = v[kALr], lambd = v[kALambd], eta = count.numbers[0], mu = count.numbers[1];
  count.set(0, lr / std::pow(1 + lambd * lr * count.step, v[kAAlpha]));
  count.set(1, 1 / std::max(1.0, count.step - v[kAT0]));
  return step_values<AsgdFormula>(
      {descent(v[kADecay], v[kAMaximize] != 0), 1 - lambd * eta, eta, mu});
}

}  // namespace

constinit const Rule adadelta_rule = {.name = "Adadelta",
                                      .fields = kAdadeltaFields,
                                      .states = kAdadeltaStates,
                                      .formula = adadelta_formula};
constinit const Rule rprop_rule = {.name = "Rprop",
                                   .fields = kRpropFields,
                                   .states = kRpropStates,
                                   .check = check_rprop,
                                   .formula = rprop_formula};
constinit const Rule asgd_rule = {.name = "ASGD",
                                  .fields = kAsgdFields,
                                  .states = kAsgdStates,
                                  .numbers = kAsgdNumbers,
                                  .first_numbers = first_asgd_numbers,
                                  .waits = true,
                                  .formula = asgd_formula};

}  // namespace taeda::inline v0_2::optim
