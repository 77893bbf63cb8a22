// Memory that Python's buffer protocol lends, in both directions.
#pragma once

#include "python.h"
#include "taeda/tensor/tensor.h"

namespace taeda::python {

/// Defines the class of objects that lend a tensor's memory by the buffer protocol.
void add_memory_view_type(PyObject* module);
/// Such an object. The memory must be the host's.
PyObject* memory_view(const Tensor& t);

}  // namespace taeda::python
