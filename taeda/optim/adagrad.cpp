#include "taeda/optim/adagrad.h"

#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/optim/take_step.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdagradField : size_t { kHLr, kHLrDecay, kHDecay, kHStart, kHEps, kHMaximize };
constexpr RuleField kAdagradFields[] = {
    rate_field(1e-2),
    {"lr_decay", "lr_decay", -1, 0, Range::AtLeast0, "Invalid lr_decay value: "},
    decay_field(),
    {"initial_accumulator_value", "initial_accumulator_value", -1, 0, Range::AtLeast0,
     "Invalid initial_accumulator_value value: ", "what sums begin with"},
    eps_field(1e-10),
    flag_field("maximize")};
constexpr RuleState kAdagradStates[] = {
    {"sum", 0, nullptr, [](const double* v) { return v[kHStart]; }}};

StepNumbers adagrad_numbers(const double* v, double step, bool) {
  return {v[kHLr] / (1 + (step - 1) * v[kHLrDecay]), 0};
}

void adagrad_rows(const double* v, StepTensors& t) {
  const double rate = adagrad_numbers(v, t.step, false).a;
  const Tensor grad = v[kHMaximize] != 0 ? t.grad.neg() : t.grad;
  t.states[0].add_(grad.square());
  t.param.add_(grad.div(t.states[0].sqrt().add_(v[kHEps])), -rate);
}

void launch_adagrad(const double* v, const ParamList& list) {
  adagrad_slot(list.device().type(), list, {v[kHEps], v[kHDecay], v[kHLrDecay]});
}

}  // namespace

constinit const Rule adagrad_rule = {
    .name = "Adagrad",
    .fields = kAdagradFields,
    .states = kAdagradStates,
    .own_numbers = adagrad_numbers,
    .launch = launch_adagrad,
    .negated = [](const double* v) { return v[kHMaximize] != 0; },
    .rows = adagrad_rows,
    .sparse_as_dense =
        [](const double* v) {
          TAEDA_CHECK(v[kHDecay] == 0,
                      "weight_decay option is not compatible with sparse gradients");
          return false;
        }};

void AdagradOptions::check() const { check_values(adagrad_rule, *this); }

void AdagradOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  lr_decay_ = f("lr_decay", lr_decay_);
  weight_decay_ = f("weight_decay", weight_decay_);
  initial_accumulator_value_ = f("initial_accumulator_value", initial_accumulator_value_);
  eps_ = f("eps", eps_);
}

bool Adagrad::wants_state(const OptimizerOptions&, size_t) const { return true; }

Tensor Adagrad::make_state(const OptimizerOptions& options, size_t k, const Tensor& param) const {
  return first_state_of(adagrad_rule, options, k, param);
}

StepNumbers Adagrad::numbers(const OptimizerOptions& options, int64_t step, bool) {
  const auto& o = static_cast<const AdagradOptions&>(options);
  return {o.lr() / (1 + static_cast<double>(step - 1) * o.lr_decay()), 0};
}

Adagrad::SparseGradients Adagrad::sparse_gradients(const OptimizerOptions& options) const {
  TAEDA_CHECK(static_cast<const AdagradOptions&>(options).weight_decay() == 0,
              "weight_decay option is not compatible with sparse gradients");
  return SparseGradients::Rows;
}

void Adagrad::update_rows(const OptimizerOptions& options, Rows& rows) const {
  take_rows(adagrad_rule, options, rows);
}

void Adagrad::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const AdagradOptions&>(options);
  adagrad_slot(list.device().type(), list, {o.eps(), o.weight_decay(), o.lr_decay()});
}

}  // namespace taeda::inline v0_2::optim
