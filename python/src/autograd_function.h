// torch.autograd.Function: forward and backward written in Python.
#pragma once

#include "python.h"
#include "taeda/tensor/tensor.h"

namespace taeda::python {

/// Defines `_FunctionContext`, from which ctx derives, and `_apply_function`.
void add_autograd_function(PyObject* module);

/// The ctx that ends with the tensor, because the tensor alone has the node that keeps it; else
/// nullptr. Borrowed.
PyObject* context_that_ends_with(const Tensor& t);

}  // namespace taeda::python
