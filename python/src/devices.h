// Devices of accelerators: how many, which one is current, streams, events, memory.
#pragma once

#include "python.h"

namespace taeda::python {

void add_devices(PyObject* module);

}  // namespace taeda::python
