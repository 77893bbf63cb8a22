// What happens to a call that no signature fits: a function of Python answers it, or a TypeError.
#pragma once

#include "arguments.h"

namespace taeda::python {

/// Sets what answers such calls: a dict of functions by the operations' names, which get the same
/// arguments and give NotImplemented where the call is wrong.
void set_more_signatures(PyObject* functions);

/// Throws ErrorIsSet with a TypeError that says what was given and what would be taken.
[[noreturn]] void throw_no_signature(const Callable& callable, bool method, PyObject* const* args,
                                     Py_ssize_t count, PyObject* names);

/// An element of a sequence of sizes that is no integer, with the error set: what `to_ints` throws.
struct WrongElement : ErrorIsSet {
  PyObject* sequence;
  Py_ssize_t position;
};
/// Throws ErrorIsSet with a TypeError that names the operation and the parameter, too.
[[noreturn]] void throw_wrong_element(const char* operation, const char* parameter,
                                      const WrongElement& element);

/// "(Tensor input, Number other, *, Number alpha = 1)".
std::string signature_text(const Signature& s, bool method);

/// A kind as signatures name it: "Tensor", "tuple of ints".
const char* kind_name(Kind kind);

/// Defines `_signatures`, which lists what operations can be called with.
void add_signatures(PyObject* module);

}  // namespace taeda::python
