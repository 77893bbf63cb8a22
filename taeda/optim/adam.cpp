#include "taeda/optim/adam.h"

#include <cmath>

#include "taeda/kernels/optim.h"

namespace taeda::optim::detail {

template <class Options>
ArrayRef<const char*> AdamBase<Options>::state_names() const {
  static constexpr const char* names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  return names;
}

template <class Options>
void AdamBase<Options>::prepare(const OptimizerOptions& options, const Tensor& param,
                                ParamState& state, ParamRef& ref) {
  const auto& o = static_cast<const Options&>(options);
  if (!state.tensors[0].defined()) {
    state.tensors[0] = zeros_for(param);
    state.tensors[1] = zeros_for(param);
  }
  if (o.amsgrad() && !state.tensors[2].defined()) state.tensors[2] = zeros_for(param);
  const auto [beta1, beta2] = o.betas();
  ref.a = o.lr() / bias_correction(0, beta1, state.step);
  ref.b = std::sqrt(bias_correction(1, beta2, state.step));
}

template <class Options>
void AdamBase<Options>::launch(const OptimizerOptions& options, const ParamList& list) {
  const auto& o = static_cast<const Options&>(options);
  const auto [beta1, beta2] = o.betas();
  constexpr bool decoupled = std::is_same_v<Options, AdamWOptions>;
  adam_slot(
      list.device.type(), list,
      {o.lr(), beta1, beta2, o.eps(), o.weight_decay(), decoupled, o.amsgrad(), o.maximize()});
}

template class AdamBase<AdamOptions>;
template class AdamBase<AdamWOptions>;

}  // namespace taeda::optim::detail
