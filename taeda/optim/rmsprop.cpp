#include "taeda/optim/rmsprop.h"

#include "taeda/kernels/optim.h"

namespace taeda::inline v0_2::optim {

void RMSpropOptions::check() const {
  TAEDA_CHECK_VALUE(lr_ >= 0, "Invalid learning rate: ", lr_);
  TAEDA_CHECK_VALUE(eps_ >= 0, "Invalid epsilon value: ", eps_);
  TAEDA_CHECK_VALUE(momentum_ >= 0, "Invalid momentum value: ", momentum_);
  TAEDA_CHECK_VALUE(weight_decay_ >= 0, "Invalid weight_decay value: ", weight_decay_);
  TAEDA_CHECK_VALUE(alpha_ >= 0, "Invalid alpha value: ", alpha_);
}

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

}  // namespace taeda::optim
