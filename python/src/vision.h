// Pictures: files, grids, sizes, colours.
#pragma once

#include "python.h"

namespace taeda::python {

void add_vision(PyObject* module);

}  // namespace taeda::python
