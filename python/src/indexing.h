// x[...] and x[...] = y.
#pragma once

#include "python.h"

namespace taeda::python {

PyObject* get_item(PyObject* self, PyObject* index);
int set_item(PyObject* self, PyObject* index, PyObject* value);
/// Tensor, tuple of tensors and None for whole dimensions, values, whether to add them.
template <bool in_place>
PyObject* put_at_indices(PyObject*, PyObject* const* args, Py_ssize_t count);
Py_ssize_t tensor_length(PyObject* self);
int tensor_contains(PyObject* self, PyObject* value);

}  // namespace taeda::python
