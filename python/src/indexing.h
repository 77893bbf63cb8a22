// x[...] and x[...] = y.
#pragma once

#include "python.h"

namespace taeda::python {

PyObject* get_item(PyObject* self, PyObject* index);
int set_item(PyObject* self, PyObject* index, PyObject* value);
Py_ssize_t tensor_length(PyObject* self);
int tensor_contains(PyObject* self, PyObject* value);
/// Puts _index_put and _index_put_ into the module.
void add_index_functions(PyObject* module);

}  // namespace taeda::python
