// What training is made of beside operations: autocast, first values, parts of a data set.
#pragma once

#include "python.h"

namespace taeda::python {

void add_training(PyObject* module);

}  // namespace taeda::python
