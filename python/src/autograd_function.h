// torch.autograd.Function: forward and backward written in Python.
#pragma once

#include "python.h"

namespace taeda::python {

/// Defines `_FunctionContext`, from which ctx derives, and `_apply_function`.
void add_autograd_function(PyObject* module);

}  // namespace taeda::python
