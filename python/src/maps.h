// A function of one sample as one of many: what torch.vmap is made of.
#pragma once

#include "python.h"

namespace taeda::python {

void add_maps(PyObject* module);

}  // namespace taeda::python
