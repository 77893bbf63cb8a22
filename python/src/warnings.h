// Warnings of the library as those of Python.
//
// Note [Warnings wait for the end of the call]
// A filter of Python may make a warning an exception, and whatever shows warnings is Python's code.
// Neither has a place in the middle of an operation, which may hold locks and no GIL. So a call
// collects what the library warns of, and gives it to Python's `warnings` when it ends, with the
// GIL held; an exception then comes out of the call. Where the call has released the GIL,
// ReleaseGil collects, also from the threads that work for the call while it waits. A thread that
// no call of Python waits for has nobody to raise an exception in: a thread made for it gives its
// warnings, and what a filter makes of them goes to sys.unraisablehook.
#pragma once

#include "python.h"

namespace taeda::python {

/// Has the library's warnings go to Python's `warnings`, until Python ends.
void add_warnings(PyObject* module);

/// Warns at once, of the program's line: the innermost that is not the package's own. Throws
/// ErrorIsSet where a filter makes it an error. Call with the GIL held.
void warn_python(PyObject* category, const char* text);

}  // namespace taeda::python
