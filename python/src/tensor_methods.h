// Methods of Tensor that are no operations: sizes, conversions, autograd.
#pragma once

#include <vector>

#include "python.h"

namespace taeda::python {

/// All methods of Tensor, those that are made from the declarations included; ends with an empty
/// entry.
std::vector<PyMethodDef> collect_tensor_methods();

/// `cls(data)` and `cls(tensor)`: what Tensor.__new__ does.
PyObject* new_tensor_object(PyTypeObject* type, PyObject* args, PyObject* kwargs);

/// Adds the functions that make tensors of other classes.
void add_tensor_functions(PyObject* module);

}  // namespace taeda::python
