// Several processes: stores, groups and what is exchanged in them, as torch._C._distributed.
#pragma once

#include "bindings.h"

namespace taeda::python {

// Each adds its part to the submodule.

void add_stores(py::module_& m);
void add_groups(py::module_& m);
void add_collectives(py::module_& m);

/// Adds the submodule `_distributed` to the extension.
void add_distributed(PyObject* module);

}  // namespace taeda::python
