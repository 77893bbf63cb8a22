// Note [Second derivatives of fused kernels]
// A fused gradient kernel is fast but records nothing. During a backward pass that is itself
// recorded (create_graph), the gradient is therefore computed by a composition of differentiable
// operations. Operations with such a kernel give both here, and this is the only place that
// chooses. The composition may be that of the gradient, or that of the operation.
#pragma once

#include <functional>
#include <vector>

#include "taeda/autograd/node.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::detail {

template <class Fused, class Composed>
auto fused_or_differentiable(Fused&& fused, Composed&& composed) {
  return GradMode::is_enabled() ? composed() : fused();
}

/// The gradients of compose(inputs), weighed with `g`, by a recorded pass of its own. What the
/// result does not depend on has none.
autograd::TensorVec recorded_gradients(const std::function<Tensor(TensorList)>& compose,
                                       const std::vector<Tensor>& inputs, const Tensor& g,
                                       autograd::Needs needs);

}  // namespace taeda::inline v0_2::detail
