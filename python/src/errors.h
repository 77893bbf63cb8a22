// The exceptions that errors of the library become.
#pragma once

#include "python.h"

namespace taeda::python {

/// Adds the exception classes to the extension: OutOfMemoryError and, for failures between
/// processes, DistError, both of them RuntimeErrors.
void add_errors(PyObject* module);

}  // namespace taeda::python
