// Hooks written in Python. Their errors travel through the pass and out of backward.
#pragma once

#include "python.h"
#include "taeda/autograd/node.h"

namespace taeda::python {

/// A hook of a node that Python wrote: hook(grad_inputs, grad_outputs) behind it,
/// hook(grad_outputs) before it. What they return takes the place of the gradients, unless it is
/// None.
autograd::NodePostHook post_hook(PyObject* hook);
autograd::NodePreHook pre_hook(PyObject* hook);

/// Defines the functions of the extension that install hooks of tensors.
void add_hooks(PyObject* module);

}  // namespace taeda::python
