// Random values with densities, transforms of them, and divergences.
#pragma once

#include "python.h"

namespace taeda::python {

void add_distributions(PyObject* module);

}  // namespace taeda::python
