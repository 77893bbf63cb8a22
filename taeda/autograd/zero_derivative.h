// Not part of the public interface.
#pragma once

#include "taeda/autograd/history.h"

namespace taeda::inline v0_2::autograd {

/// For a backward function whose result does not depend on the operation's first input: while the
/// graph of the gradients is kept, `grad` depends on it with a derivative of zero. So a second
/// derivative of a pooling is zero, as in PyTorch, and not an error.
inline Tensor with_zero_derivative(const Tensor& grad) {
  if (!GradMode::is_enabled() || !grad.defined()) return grad;
  const Tensor input = make_alias(grad), out = make_alias(grad);
  detail::link(input, current_node()->next_edges()[0]);
  record("ZeroDerivativeBackward0", out, {grad, input}, [](const Tensor& g, Needs needs) {
    return TensorVec{g, needs[1] ? g.new_zeros(g.sizes()) : Tensor()};
  });
  return out;
}

}  // namespace taeda::inline v0_2::autograd
