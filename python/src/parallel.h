// Several devices in one process: what torch.nn.parallel is made of, as torch._C._parallel.
#pragma once

#include "python.h"

namespace taeda::python {

/// Adds the submodule `_parallel` to the extension.
void add_parallel(PyObject* module);

}  // namespace taeda::python
