// What a training step is made of beside operations: fused optimizer steps, clipping, autocast,
// scaling.
#pragma once

#include "python.h"

namespace taeda::python {

void add_training(PyObject* module);

}  // namespace taeda::python
