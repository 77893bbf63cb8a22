// torch.autograd.Function: forward and backward written in Python.
#pragma once

#include "python.h"
#include "taeda/autograd/node.h"
#include "taeda/tensor/tensor.h"

namespace taeda::python {

/// Defines `_FunctionContext`, from which ctx derives, and `_apply_function`.
void add_autograd_function(PyObject* module);

/// The ctx that ends with the tensor, because the tensor alone has the node that keeps it; else
/// nullptr. Borrowed.
PyObject* context_that_ends_with(const Tensor& t);

/// The ctx of a node that a function written in Python recorded; nullptr for others. Borrowed.
PyObject* context_of_node(autograd::Node& node);

}  // namespace taeda::python
