// What programs may say and ask about graphs, as torch.autograd.graph: what becomes of tensors
// between forward and backward, and notes on nodes. What else a node tells is in node.h.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <string>

#include "taeda/autograd/node.h"

namespace taeda::inline v0_2::autograd::graph {

/// Gets a tensor that an operation saves, without history, and gives what shall be kept instead.
using PackHook = std::function<std::any(const Tensor& saved)>;
/// Gets what the pack hook gave, on the thread of the backward pass, and gives a tensor of the same
/// sizes, dtype and device back. Called each time that the saved tensor is needed.
using UnpackHook = std::function<Tensor(const std::any& packed)>;

/// Has operations of this thread keep what `pack` makes of their saved tensors, as
/// torch.autograd.graph.saved_tensors_hooks, until the end of the scope; of several the innermost
/// counts. Neither hook is recorded. Changes in place of what was saved are not noticed.
/// Throws Error where saving if `pack` changes its argument in place, and in backward if `unpack`
/// gives anything else than what was packed.
class saved_tensors_hooks {
 public:
  saved_tensors_hooks(PackHook pack, UnpackHook unpack);
  ~saved_tensors_hooks();
  saved_tensors_hooks(const saved_tensors_hooks&) = delete;
  saved_tensors_hooks& operator=(const saved_tensors_hooks&) = delete;
};

/// Keeps saved tensors of accelerators in host memory and copies them back in backward, as
/// torch.autograd.graph.save_on_cpu: activations then take no memory on the device. With
/// `pin_memory` both copies need no staging.
class save_on_cpu : public saved_tensors_hooks {
 public:
  explicit save_on_cpu(bool pin_memory = false);
};

/// A place for a program's own notes on a node, as Python's `grad_fn.metadata`. They live as long
/// as the node.
std::map<std::string, std::any>& metadata(Node& node);

}  // namespace taeda::autograd::graph
