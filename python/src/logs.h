// What programs tell about their run: TensorBoard's files, profiles.
#pragma once

#include "python.h"

namespace taeda::python {

void add_summary_writer(PyObject* module);
void add_profiler(PyObject* module);

}  // namespace taeda::python
