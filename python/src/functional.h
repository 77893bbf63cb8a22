// Functions of torch.nn.functional that the library has with options instead of arguments.
#pragma once

#include "python.h"

namespace taeda::python {

/// Adds them to the extension as _functional.
void add_functional(PyObject* module);

}  // namespace taeda::python
