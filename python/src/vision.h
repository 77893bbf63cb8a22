// Pictures: files, grids, sizes, colours.
#pragma once

#include "python.h"

namespace taeda::python {

void add_vision(PyObject* module);
/// Into `vision`, the module that it adds.
void add_transforms(PyObject* vision);

}  // namespace taeda::python
