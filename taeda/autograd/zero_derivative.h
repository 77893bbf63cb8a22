// Not part of the public interface.
#pragma once

#include "taeda/autograd/history.h"

namespace taeda::inline v0_2::autograd {

/// For a backward function whose result does not depend on the operation's first input: while the
/// graph of the gradients is kept, `grad` depends on it with a derivative of zero. So a second
/// derivative of a pooling is zero, as in PyTorch, and not an error. Outside of a pass, where a
/// program calls a node by itself, nobody knows the input, and `grad` stays as it is.
inline Tensor with_zero_derivative(const Tensor& grad) {
  const Node* node = current_node();
  if (!GradMode::is_enabled() || !grad.defined() || !node || node->edges.empty()) return grad;
  const Edge& to = node->edges[0];
  if (!to) return grad;
  // They are another node's where this one is called by a backward function.
  const auto& inputs = to.node->inputs;
  if (to.input_nr < inputs.size() && inputs[to.input_nr].sizes != DimVector(grad.sizes()))
    return grad;
  const Tensor input = make_alias(grad), out = make_alias(grad);
  detail::link(input, to);
  record("ZeroDerivativeBackward0", out, {grad, input}, [](const Tensor& g, Needs needs) {
    return TensorVec{g, needs[1] ? g.new_zeros(g.sizes()) : Tensor()};
  });
  return out;
}

}  // namespace taeda::inline v0_2::autograd
