// What tools/ops makes for Python from the declarations of operations.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "arguments.h"
#include "python.h"

namespace taeda::python {

/// A name that an operation has in Python.
struct Entry {
  /// "" for the functions of torch itself, "linalg" and so on for others, "Tensor" for methods.
  const char* table;
  const char* name;
  bool method;
  Callable callable;
  const char* documentation;
};

/// An entry with the function that Python calls.
struct Method {
  const Entry* entry;
  _PyCFunctionFastWithKeywords function;
  PyMethodDef definition() const {
    return {entry->name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function)),
            METH_FASTCALL | METH_KEYWORDS, entry->documentation};
  }
};

/// All operations.
std::vector<Method> generated_methods();

/// The methods of a table of entries.
template <const auto& Entries>
std::vector<Method> methods() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::vector<Method>{
        {&Entries[I], [](PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
           return call(Entries[I].callable, Entries[I].method ? self : nullptr, args, count, names);
         }}...};
  }(std::make_index_sequence<std::size(Entries)>());
}

}  // namespace taeda::python
