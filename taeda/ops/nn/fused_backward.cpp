#include "taeda/ops/nn/fused_backward.h"

#include "taeda/autograd/engine.h"
#include "taeda/autograd/record.h"

namespace taeda::inline v0_2::detail {

TensorVec recorded_gradients(const std::function<Tensor(TensorList)>& compose,
                             const std::vector<Tensor>& inputs, const Tensor& g, Needs needs) {
  // The pass ends at stand-ins of the inputs.
  std::vector<Tensor> given = inputs;
  std::vector<autograd::Edge> ends(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    if (!needs[i] || !wants_grad(inputs[i])) continue;
    given[i] = make_alias(inputs[i]);
    record("StandIn", given[i], {inputs[i]}, [](const Tensor& grad) { return grad; });
    ends[i] = autograd::gradient_edge(given[i]);
  }
  const auto grads = autograd::grad_at({compose(given)}, {g}, ends, needs, true);
  return {grads.begin(), grads.end()};
}

}  // namespace taeda::inline v0_2::detail
