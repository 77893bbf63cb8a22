// Running a graph backward.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "taeda/autograd/node.h"

namespace taeda::inline v0_2::autograd {

/// Computes the gradients of `tensors` and adds them into the `grad()` of the leaves they depend on
/// (of `inputs` only, if given). `grad_tensors[i]` (may be undefined) weighs tensors[i]; it may be
/// left out for tensors of one element. `retain_graph` defaults to `create_graph`.
/// Throws Error if a tensor has no history, if a gradient is missing or has the wrong shape.
void backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors = {},
              std::optional<bool> retain_graph = {}, bool create_graph = false,
              const std::vector<Tensor>& inputs = {});

/// The gradients of `outputs` with respect to `inputs`, without touching any `grad()`. An input
/// that the outputs do not depend on is an error unless `allow_unused`; its gradient is then
/// undefined.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {},
                         std::optional<bool> retain_graph = {}, bool create_graph = false,
                         bool allow_unused = false);

/// The gradients that arrive at `ends`, weighing outputs[i] with grad_outputs[i]; undefined where
/// none does or where it is not among `needed`. The pass does not go beyond the ends: their nodes
/// are not run, nor are their hooks. For operations whose gradient is a pass of its own.
std::vector<Tensor> grad_at(const std::vector<Tensor>& outputs,
                            const std::vector<Tensor>& grad_outputs, const std::vector<Edge>& ends,
                            Needs needed, bool create_graph);

/// Has `callback` called at the end of the pass that runs on this thread (from within a hook), on
/// the thread that began the pass. Throws Error outside a backward pass.
void queue_callback(std::function<void()> callback);

/// Tells passes that run at the same time apart; nullptr outside a pass.
const void* current_pass_id();

}  // namespace taeda::autograd
