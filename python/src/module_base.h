// The base of nn.Module: what is done for every look-up of an attribute and every call.
#pragma once

#include "python.h"

namespace taeda::python {

/// Defines the class and adds it to the extension as ModuleBase.
void add_module_base(PyObject* module);

}  // namespace taeda::python
