// Files that replace others whole or not at all.
#pragma once

#include "python.h"

namespace taeda::python {

void add_files(PyObject* module);

}  // namespace taeda::python
