#include "taeda/optim/adagrad.h"

#include "taeda/base/error.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdagradField : size_t { kHLr, kHLrDecay, kHDecay, kHStart, kHEps, kHMaximize };
constexpr RuleField kAdagradFields[] = {
    rate_field<&AdagradConfig::lr>(),
    field<&AdagradConfig::lr_decay>({"lr_decay", Range::AtLeast0, "Invalid lr_decay value: "}),
    decay_field<&AdagradConfig::weight_decay>(),
    field<&AdagradConfig::initial_accumulator_value>({"initial_accumulator_value", Range::AtLeast0,
                                                      "Invalid initial_accumulator_value value: "}),
    eps_field<&AdagradConfig::eps>(),
    {"maximize"}};
constexpr RuleState kAdagradStates[] = {
    {"sum", nullptr, [](const double* v) { return v[kHStart]; }}};

double adagrad_rate(const double* v, double step) {
  return v[kHLr] / (1 + (step - 1) * v[kHLrDecay]);
}

StepValues adagrad_formula(const double* v, StepCount& count) {
  return step_values<AdagradFormula>({descent(v[kHDecay], v[kHMaximize] != 0), v[kHEps],
                                      adagrad_rate(v, count.step), v[kHLr], v[kHLrDecay],
                                      count.step});
}

void adagrad_rows(const double* v, StepTensors& t) {
  const Tensor grad = v[kHMaximize] != 0 ? t.grad.neg() : t.grad;
  t.states[0].add_(grad.square());
  t.param.add_(grad.div(t.states[0].sqrt().add_(v[kHEps])), -adagrad_rate(v, t.step));
}

}  // namespace

constinit const Rule adagrad_rule = {
    .name = "Adagrad",
    .fields = kAdagradFields,
    .states = kAdagradStates,
    .formula = adagrad_formula,
    .rows = adagrad_rows,
    .sparse_as_dense = [](const double* v) {
      TAEDA_CHECK(v[kHDecay] == 0, "weight_decay option is not compatible with sparse gradients");
      return false;
    }};

}  // namespace taeda::inline v0_2::optim
