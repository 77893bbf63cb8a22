#include "taeda/optim/rmsprop.h"

#include "taeda/optim/rule.h"

namespace taeda::inline v0_2::optim {

namespace {

enum RmspropField : size_t { kQLr, kQAlpha, kQEps, kQDecay, kQMomentum, kQCentered, kQMaximize };
constexpr RuleField kRmspropFields[] = {
    rate_field<&RMSpropConfig::lr>(),
    field<&RMSpropConfig::alpha>({"alpha", Range::AtLeast0, "Invalid alpha value: "}),
    eps_field<&RMSpropConfig::eps>(),
    decay_field<&RMSpropConfig::weight_decay>(),
    field<&RMSpropConfig::momentum>({"momentum", Range::AtLeast0, "Invalid momentum value: "}),
    field<&RMSpropConfig::centered>({"centered"}),
    {"maximize"}};
bool rmsprop_has_momentum(const double* v) { return v[kQMomentum] > 0; }
constexpr RuleState kRmspropStates[] = {
    {"square_avg"}, {"momentum_buffer", rmsprop_has_momentum}, {"grad_avg", [](const double* v) {
                                                                  return v[kQCentered] != 0;
                                                                }}};

template <template <class> class F>
StepValues rmsprop_numbers(const double* v) {
  return step_values<F>({descent(v[kQDecay], v[kQMaximize] != 0), v[kQAlpha], 1 - v[kQAlpha],
                         v[kQEps], v[kQMomentum], v[kQLr]});
}

StepValues rmsprop_formula(const double* v, StepCount&) {
  if (v[kQCentered] != 0)
    return rmsprop_has_momentum(v) ? rmsprop_numbers<CenteredRmspropMomentumFormula>(v)
                                   : rmsprop_numbers<CenteredRmspropFormula>(v);
  return rmsprop_has_momentum(v) ? rmsprop_numbers<RmspropMomentumFormula>(v)
                                 : rmsprop_numbers<RmspropFormula>(v);
}

}  // namespace

constinit const Rule rmsprop_rule = {.name = "RMSprop",
                                     .fields = kRmspropFields,
                                     .states = kRmspropStates,
                                     .formula = rmsprop_formula};

}  // namespace taeda::inline v0_2::optim
