// Recurrent networks over packed sequences, and packing.
#pragma once

#include "python.h"

namespace taeda::python {

/// Adds them to the extension as _rnn.
void add_recurrent(PyObject* module);

}  // namespace taeda::python
