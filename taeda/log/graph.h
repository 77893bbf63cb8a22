// The graph of a module, found by running it once: what add_graph shows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/nn/module.h"

namespace taeda::inline v0_2::logging {

/// One box: an input, a parameter, an operation or an output. The parts of the name between slashes
/// are the modules it lies in: "Network/Conv2d[conv1]/Convolution".
struct GraphNode {
  std::string name, op, device;
  std::vector<std::string> inputs;
  std::vector<DimVector> shapes;  ///< of what it gives
};

/// Runs `forward` on `inputs` in evaluation mode and follows the autograd graph from what it
/// returns: operations that no gradient passes through do not appear. The module must live in a
/// shared_ptr; its training flags are as before afterwards.
std::vector<GraphNode> trace_graph(
    nn::Module& model, const std::vector<Tensor>& inputs,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& forward);

}  // namespace taeda::logging
