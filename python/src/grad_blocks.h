// The blocks in which operations are recorded or not: what torch.no_grad and torch.enable_grad are
// made of.
#pragma once

#include "python.h"

namespace taeda::python {

void add_grad_blocks(PyObject* module);

}  // namespace taeda::python
