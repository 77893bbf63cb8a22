// Steps of optimizers: one call for all parameters of a group.
#pragma once

#include "python.h"

namespace taeda::python {

/// Adds them to the extension as _optim.
void add_optim_steps(PyObject* module);

}  // namespace taeda::python
