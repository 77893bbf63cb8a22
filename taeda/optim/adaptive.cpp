#include "taeda/optim/adaptive.h"

#include <algorithm>
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdadeltaField : size_t { kDLr, kDRho, kDEps, kDDecay, kDMaximize };
constexpr RuleField kAdadeltaFields[] = {
    rate_field(1),
    {"rho", "rho", -1, 0.9, Range::From0To1, "Invalid rho value: ", "what means keep in a step"},
    eps_field(1e-6),
    decay_field(),
    flag_field("maximize")};
constexpr RuleState kAdadeltaStates[] = {{"square_avg"}, {"acc_delta"}};

StepValues adadelta_formula(const double* v, StepCount&) {
  return step_values<AdadeltaFormula>(
      {descent(v[kDDecay], v[kDMaximize] != 0), v[kDRho], 1 - v[kDRho], v[kDEps], v[kDLr]});
}

enum RpropField : size_t { kPLr, kPDown, kPUp, kPLeast, kPMost, kPMaximize };
constexpr RuleField kRpropFields[] = {
    rate_field(1e-2),
    {"etaminus", "etas", 0, 0.5, Range::Any, "", "the factor of a step after its sign changed"},
    {"etaplus", "etas", 1, 1.2, Range::Any, "", "the factor of a step whose sign stayed"},
    {"step_size_min", "step_sizes", 0, 1e-6, Range::Any, "", "the least step"},
    {"step_size_max", "step_sizes", 1, 50, Range::Any, "", "the largest step"},
    flag_field("maximize")};
constexpr RuleState kRpropStates[] = {
    {"prev"}, {"step_size", nullptr, [](const double* v) { return v[kPLr]; }}};

void check_rprop(const double* v) {
  TAEDA_CHECK_VALUE(v[kPDown] > 0 && v[kPDown] < 1 && v[kPUp] > 1,
                    "Invalid eta values: ", v[kPDown], ", ", v[kPUp]);
}

StepValues rprop_formula(const double* v, StepCount&) {
  return step_values<RpropFormula>(
      {descent(0, v[kPMaximize] != 0), v[kPDown], v[kPUp], v[kPLeast], v[kPMost]});
}

enum AsgdField : size_t { kALr, kALambd, kAAlpha, kAT0, kADecay, kAMaximize };
constexpr RuleField kAsgdFields[] = {
    rate_field(1e-2),
    {"lambd", "lambd", -1, 1e-4, Range::AtLeast0, "Invalid lambd value: ", "decay of parameters"},
    {"alpha", "alpha", -1, 0.75, Range::AtLeast0,
     "Invalid alpha value: ", "how fast the rate falls"},
    {"t0", "t0", -1, 1e6, Range::Number, "Invalid t0 value: ", "the step at which the mean begins"},
    decay_field(),
    flag_field("maximize")};
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

void AdadeltaOptions::visit(const NumberVisitor& f) {
  visit_numbers(adadelta_rule, f, lr_, rho_, eps_, weight_decay_, maximize_);
}

void RpropOptions::check() const {
  check_values(rprop_rule, *this);
  const auto [least, most] = step_sizes_;
  TAEDA_CHECK_VALUE(least <= most, "Invalid step sizes: ", least, ", ", most);
}

void RpropOptions::visit(const NumberVisitor& f) {
  visit_numbers(rprop_rule, f, lr_, etas_, step_sizes_, maximize_);
}

void ASGDOptions::visit(const NumberVisitor& f) {
  visit_numbers(asgd_rule, f, lr_, lambd_, alpha_, t0_, weight_decay_, maximize_);
}

}  // namespace taeda::inline v0_2::optim
