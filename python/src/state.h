// What the whole process or a thread is set to: default dtype, threads, printing, seeds,
// determinism.
#pragma once

#include "python.h"

namespace taeda::python {

void add_state(PyObject* module);

}  // namespace taeda::python
