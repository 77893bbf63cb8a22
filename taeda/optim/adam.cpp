#include "taeda/optim/adam.h"

#include <cmath>

#include "taeda/kernels/optim.h"

namespace taeda::inline v0_2::optim {

template <class Derived>
void AdamOptionsBase<Derived>::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  const auto [beta1, beta2] = betas_;
  TAEDA_CHECK_VALUE(beta1 >= 0 && beta1 < 1, "Invalid beta parameter at index 0: ", beta1);
  TAEDA_CHECK_VALUE(beta2 >= 0 && beta2 < 1, "Invalid beta parameter at index 1: ", beta2);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
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

}  // namespace taeda::optim

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

}  // namespace taeda::optim::detail
