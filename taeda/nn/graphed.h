// torch.cuda.make_graphed_callables: a part of a network, forward and backward, as two graphs,
// where the whole step cannot be one (a loader, an `if` on values, a GradScaler).
#pragma once

#include <concepts>
#include <functional>
#include <vector>

#include "taeda/device/graph.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::nn {

/// A function that can be captured: outputs from inputs, which must do the same work, with the same
/// shapes, each time.
using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// `function` as a pair of graphs. It runs `num_warmup_iters` times and is captured once, with
/// `sample_args` (on one accelerator); the result takes tensors of the same shapes and dtypes,
/// copies them to where the graphs read, and replays. `parameters` are the other tensors that need
/// gradients. Outputs lie in memory that the next call writes again. Differentiable once.
/// Throws Error for arguments that differ from the samples, and where a capture would.
TensorFunction make_graphed_callables(const TensorFunction& function,
                                      const std::vector<Tensor>& sample_args,
                                      const std::vector<Tensor>& parameters = {},
                                      int num_warmup_iters = 3, allocator::PoolId pool = 0);

/// The same for a module of one tensor; `module` is kept. Put it into train() or eval() before.
template <class Holder>
requires requires(Holder& m, const Tensor& x) {
  { m->forward(x) } -> std::convertible_to<Tensor>;
}
std::function<Tensor(const Tensor&)> make_graphed_callables(Holder module, const Tensor& sample,
                                                            int num_warmup_iters = 3,
                                                            allocator::PoolId pool = 0) {
  const std::vector<Tensor> parameters = module->parameters();
  TensorFunction graphed = make_graphed_callables(
      [module](const std::vector<Tensor>& in) mutable {
        return std::vector<Tensor>{module->forward(in[0])};
      },
      std::vector<Tensor>{sample}, parameters, num_warmup_iters, pool);
  return [graphed](const Tensor& x) { return graphed({x})[0]; };
}

}  // namespace taeda::nn
