#include "taeda/optim/rmsprop.h"

#include "taeda/kernels/optim.h"
#include "taeda/optim/take_step.h"

namespace taeda::inline v0_2::optim {

namespace {

enum RmspropField : size_t { kQLr, kQAlpha, kQEps, kQDecay, kQMomentum, kQCentered, kQMaximize };
constexpr RuleField kRmspropFields[] = {
    rate_field(1e-2),
    {"alpha", "alpha", -1, 0.99, Range::AtLeast0, "Invalid alpha value: ", "what means keep"},
    eps_field(1e-8),
    decay_field(),
    {"momentum", "momentum", -1, 0, Range::AtLeast0, "Invalid momentum value: "},
    flag_field("centered"),
    flag_field("maximize")};
bool rmsprop_has_momentum(const double* v) { return v[kQMomentum] > 0; }
constexpr RuleState kRmspropStates[] = {
    {"square_avg", 0},
    {"momentum_buffer", 2, rmsprop_has_momentum},
    {"grad_avg", 1, [](const double* v) { return v[kQCentered] != 0; }}};

void launch_rmsprop(const double* v, const ParamList& list) {
  rmsprop_slot(list.device().type(), list,
               {v[kQLr], v[kQAlpha], v[kQEps], v[kQDecay], v[kQMomentum], v[kQCentered] != 0});
}

}  // namespace

constinit const Rule rmsprop_rule = {
    .name = "RMSprop",
    .fields = kRmspropFields,
    .states = kRmspropStates,
    .own_numbers = [](const double*, double, bool) { return StepNumbers{}; },
    .launch = launch_rmsprop,
    .negated = [](const double* v) { return v[kQMaximize] != 0; }};

void RMSpropOptions::check() const { check_values(rmsprop_rule, *this); }

void RMSpropOptions::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  alpha_ = f("alpha", alpha_);
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  momentum_ = f("momentum", momentum_);
  centered_ = f("centered", centered_) != 0;
}

bool RMSprop::wants_state(const OptimizerOptions& options, size_t k) const {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  return k == 0 || (k == 1 ? o.centered() : o.momentum() > 0);
}

void RMSprop::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const RMSpropOptions&>(options);
  rmsprop_slot(list.device().type(), list,
               {o.lr(), o.alpha(), o.eps(), o.weight_decay(), o.momentum(), o.centered()});
}

}  // namespace taeda::inline v0_2::optim
