// Memory that several processes see, for tensors.
#pragma once

#include "python.h"

namespace taeda::python {

void add_shared_memory(PyObject* module);

}  // namespace taeda::python
