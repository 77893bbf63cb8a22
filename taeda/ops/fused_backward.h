// Note [Second derivatives of fused kernels]
// A fused gradient kernel is fast but records nothing. During a backward pass that is itself
// recorded (create_graph), the gradient is therefore computed by a composition of differentiable
// operations. Operations with such a kernel give both here, and this is the only place that
// chooses.
#pragma once

#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

template <class Fused, class Composed>
auto fused_or_differentiable(Fused&& fused, Composed&& composed) {
  return GradMode::is_enabled() ? composed() : fused();
}

}  // namespace taeda::detail
