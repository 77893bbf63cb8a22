#include "taeda/optim/adam.h"

#include <cmath>

#include "taeda/kernels/optim.h"

namespace taeda::inline v0_2::optim::detail {

template <class Options>
ArrayRef<const char*> AdamBase<Options>::state_names() const {
  static constexpr const char* names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  return names;
}

template <class Options>
bool AdamBase<Options>::wants_state(const OptimizerOptions& options, size_t k) const {
  return k < 2 || static_cast<const Options&>(options).amsgrad();
}

template <class Options>
StepNumbers AdamBase<Options>::numbers(const OptimizerOptions& options, int64_t step, bool) {
  const auto& o = static_cast<const Options&>(options);
  const auto [beta1, beta2] = o.betas();
  return {o.lr() / bias_correction(0, beta1, step), std::sqrt(bias_correction(1, beta2, step))};
}

template <class Options>
void AdamBase<Options>::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const Options&>(options);
  const auto [beta1, beta2] = o.betas();
  constexpr bool decoupled = std::is_same_v<Options, AdamWOptions>;
  adam_slot(
      list.device().type(), list,
      {o.lr(), beta1, beta2, o.eps(), o.weight_decay(), decoupled, o.amsgrad(), o.maximize()});
}

template class AdamBase<AdamOptions>;
template class AdamBase<AdamWOptions>;

}  // namespace taeda::optim::detail
