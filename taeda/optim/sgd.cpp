#include "taeda/optim/sgd.h"

#include "taeda/base/error.h"
#include "taeda/kernels/optim.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/optim/take_step.h"

namespace taeda::inline v0_2::optim {

namespace {

enum SgdField : size_t { kGLr, kGMomentum, kGDampening, kGDecay, kGNesterov, kGMaximize };
constexpr RuleField kSgdFields[] = {
    rate_field(1e-3),
    {"momentum", "momentum", -1, 0, Range::AtLeast0, "Invalid momentum value: "},
    {"dampening", "dampening", -1, 0},
    decay_field(),
    flag_field("nesterov"),
    flag_field("maximize")};
constexpr RuleState kSgdStates[] = {
    {"momentum_buffer", 0, [](const double* v) { return v[kGMomentum] != 0; }}};

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

StepNumbers sgd_numbers(const double*, double, bool fresh) { return {fresh ? 1.0 : 0.0, 0}; }

void launch_sgd(const double* v, const ParamList& list) {
  sgd_slot(
      list.device().type(), list,
      {v[kGLr], v[kGMomentum], v[kGDampening], v[kGDecay], v[kGNesterov] != 0, v[kGMaximize] != 0});
}

}  // namespace

constinit const Rule sgd_rule = {.name = "SGD",
                                 .fields = kSgdFields,
                                 .states = kSgdStates,
                                 .counts = false,
                                 .check = check_sgd,
                                 .own_numbers = sgd_numbers,
                                 .launch = launch_sgd,
                                 .rows = sgd_rows,
                                 .sparse_as_dense = sgd_is_dense};

void SGDOptions::check() const { check_values(sgd_rule, *this); }

void SGDOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  momentum_ = f("momentum", momentum_);
  dampening_ = f("dampening", dampening_);
  weight_decay_ = f("weight_decay", weight_decay_);
  nesterov_ = f("nesterov", nesterov_) != 0;
  maximize_ = f("maximize", maximize_) != 0;
}

bool SGD::wants_state(const OptimizerOptions& options, size_t) const {
  return static_cast<const SGDOptions&>(options).momentum() != 0;
}

/// The first step writes the buffer before it reads it.
Tensor SGD::make_state(const OptimizerOptions&, size_t, const Tensor& param) const {
  return empty_for(param);
}

StepNumbers SGD::numbers(const OptimizerOptions&, int64_t, bool fresh) {
  return sgd_numbers(nullptr, 0, fresh);
}

SGD::SparseGradients SGD::sparse_gradients(const OptimizerOptions& options) const {
  double values[Rule::kMostFields];
  read_values(sgd_rule, *options.clone(), values);
  return sgd_is_dense(values) ? SparseGradients::Dense : SparseGradients::Rows;
}

void SGD::update_rows(const OptimizerOptions& options, Rows& rows) const {
  take_rows(sgd_rule, options, rows);
}

void SGD::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const SGDOptions&>(options);
  sgd_slot(list.device().type(), list,
           {o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), o.maximize()});
}

}  // namespace taeda::inline v0_2::optim
