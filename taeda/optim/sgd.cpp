#include "taeda/optim/sgd.h"

#include "taeda/base/error.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum SgdField : size_t { kGLr, kGMomentum, kGDampening, kGDecay, kGNesterov, kGMaximize };
constexpr RuleField kSgdFields[] = {
    rate_field<&SGDConfig::lr>(),
    field<&SGDConfig::momentum>({"momentum", Range::AtLeast0, "Invalid momentum value: "}),
    field<&SGDConfig::dampening>({"dampening"}),
    decay_field<&SGDConfig::weight_decay>(),
    field<&SGDConfig::nesterov>({"nesterov"}),
    field<&SGDConfig::maximize>({"maximize"})};
constexpr RuleState kSgdStates[] = {
    {"momentum_buffer", [](const double* v) { return v[kGMomentum] != 0; }}};

void check_sgd(const double* v) {
  TAEDA_CHECK_VALUE(v[kGNesterov] == 0 || (v[kGMomentum] > 0 && v[kGDampening] == 0),
                    "Nesterov momentum requires a momentum and zero dampening");
}

/// The buffer of a momentum changes everywhere.
bool sgd_is_dense(const double* v) {
  TAEDA_CHECK(v[kGDecay] == 0, "weight_decay option is not compatible with sparse gradients");
  return v[kGMomentum] != 0;
}

void sgd_rows(const double* v, StepTensors& t) {
  t.param.add_(t.grad, v[kGMaximize] != 0 ? v[kGLr] : -v[kGLr]);
}

/// A new buffer takes the gradient as it is.
StepValues sgd_formula(const double* v, StepCount& count) {
  const Descent<double> gradient = descent(v[kGDecay], v[kGMaximize] != 0);
  if (v[kGMomentum] == 0) return step_values<SgdFormula>({gradient, v[kGLr]});
  return step_values<MomentumFormula>(
      {gradient, v[kGMomentum], count.fresh ? 1 : 1 - v[kGDampening], v[kGNesterov], v[kGLr]});
}

}  // namespace

constinit const Rule sgd_rule = {.name = "SGD",
                                 .fields = kSgdFields,
                                 .states = kSgdStates,
                                 .counts = false,
                                 .check = check_sgd,
                                 .formula = sgd_formula,
                                 .rows = sgd_rows,
                                 .sparse_as_dense = sgd_is_dense};

}  // namespace taeda::inline v0_2::optim
