// What a training step is made of beside operations: autocast.
#pragma once

#include "python.h"

namespace taeda::python {

void add_training(PyObject* module);

}  // namespace taeda::python
