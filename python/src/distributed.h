// Several processes: stores, groups and what is exchanged in them, as torch._C._distributed.
#pragma once

#include "bindings.h"

namespace taeda::python {

// Each adds its part to the submodule.

void add_stores(py::module_& m);
void add_groups(py::module_& m);
void add_collectives(py::module_& m);
void add_data_parallel(py::module_& m);
void add_rpc(py::module_& m);
void add_launch(py::module_& m);

/// The exception that Python would raise for an error; None for none.
py::object exception_object(const std::exception_ptr& error);

/// Adds the submodule `_distributed` to the extension.
void add_distributed(PyObject* module);

}  // namespace taeda::python
