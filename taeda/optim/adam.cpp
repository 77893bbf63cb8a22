#include "taeda/optim/adam.h"

#include <array>
#include <cmath>

#include "taeda/kernels/optim.h"
#include "taeda/optim/take_step.h"

namespace taeda::inline v0_2::optim {

namespace {

enum AdamField : size_t {
  kLr,
  kBeta1,
  kBeta2,
  kEps,
  kDecay,
  kAmsgrad,
  kMaximize,
  kDecoupled,
  kAdamFieldCount
};
/// The decay of AdamW is decoupled.
constexpr std::array<RuleField, kAdamFieldCount> adam_fields(double decay, bool decoupled) {
  return {rate_field(1e-3),
          beta_field(0, 0.9),
          beta_field(1, 0.999),
          eps_field(1e-8),
          decay_field(decay),
          flag_field("amsgrad"),
          flag_field("maximize"),
          RuleField{"decoupled_weight_decay", "decoupled_weight_decay", -1, decoupled ? 1.0 : 0.0}};
}
constexpr auto kAdamFields = adam_fields(0, false), kAdamWFields = adam_fields(1e-2, true);
constexpr RuleState kAdamStates[] = {
    {"exp_avg", 0}, {"exp_avg_sq", 1}, {"max_exp_avg_sq", 2, [](const double* v) {
                                          return v[kAmsgrad] != 0;
                                        }}};

StepNumbers adam_numbers(const double* v, double step, bool) {
  return {v[kLr] / correction(v[kBeta1], step), std::sqrt(correction(v[kBeta2], step))};
}

void launch_adam(const double* v, const ParamList& list) {
  adam_slot(list.device().type(), list,
            {v[kLr], v[kBeta1], v[kBeta2], v[kEps], v[kDecay], v[kDecoupled] != 0, v[kAmsgrad] != 0,
             v[kMaximize] != 0});
}

}  // namespace

constinit const Rule adam_rule = {.name = "Adam",
                                  .fields = kAdamFields,
                                  .states = kAdamStates,
                                  .instead = ", please consider SparseAdam instead",
                                  .own_numbers = adam_numbers,
                                  .launch = launch_adam};
constinit const Rule adamw_rule = {.name = "AdamW",
                                   .fields = kAdamWFields,
                                   .states = kAdamStates,
                                   .instead = ", please consider SparseAdam instead",
                                   .own_numbers = adam_numbers,
                                   .launch = launch_adam};

template <class Derived>
void AdamOptionsBase<Derived>::check() const {
  check_values(adam_rule, *this);
}

template <class Derived>
void AdamOptionsBase<Derived>::visit(const NumberVisitor& f) {
  lr_ = f("lr", lr_);
  std::get<0>(betas_) = f("beta1", std::get<0>(betas_));
  std::get<1>(betas_) = f("beta2", std::get<1>(betas_));
  eps_ = f("eps", eps_);
  weight_decay_ = f("weight_decay", weight_decay_);
  amsgrad_ = f("amsgrad", amsgrad_) != 0;
  maximize_ = f("maximize", maximize_) != 0;
}

template class AdamOptionsBase<AdamOptions>;
template class AdamOptionsBase<AdamWOptions>;

}  // namespace taeda::inline v0_2::optim

namespace taeda::inline v0_2::optim::detail {

template <class Options, class State>
bool AdamBase<Options, State>::wants_state(const OptimizerOptions& options, size_t k) const {
  return k < 2 || static_cast<const Options&>(options).amsgrad();
}

template <class Options, class State>
StepNumbers AdamBase<Options, State>::numbers(const OptimizerOptions& options, int64_t step, bool) {
  const auto& o = static_cast<const Options&>(options);
  const auto [beta1, beta2] = o.betas();
  return {o.lr() / bias_correction(0, beta1, step), std::sqrt(bias_correction(1, beta2, step))};
}

template <class Options, class State>
void AdamBase<Options, State>::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const Options&>(options);
  const auto [beta1, beta2] = o.betas();
  constexpr bool decoupled = std::is_same_v<Options, AdamWOptions>;
  adam_slot(
      list.device().type(), list,
      {o.lr(), beta1, beta2, o.eps(), o.weight_decay(), decoupled, o.amsgrad(), o.maximize()});
}

template class AdamBase<AdamOptions, AdamParamState>;
template class AdamBase<AdamWOptions, AdamWParamState>;

}  // namespace taeda::inline v0_2::optim::detail
