// Functions of torch.nn.functional that the library has with options instead of arguments.
#pragma once

#include <vector>

#include "generated_methods.h"
#include "python.h"

namespace taeda::python {

/// Those that are called by a table of signatures, for the part _functional of the extension.
std::vector<Method> functional_methods();
/// Adds to that part what takes functions of Python.
void add_functional(PyObject* module);

}  // namespace taeda::python
