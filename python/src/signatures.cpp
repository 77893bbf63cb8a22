#include "generated_methods.h"
#include "signature_error.h"

namespace taeda::python {

namespace {

PyObject* from_parameter(const Parameter& p) {
  return Py_BuildValue("(sszO)", p.name, kind_name(p.kind), p.standard,
                       p.keyword_only ? Py_True : Py_False);
}

// (receiver, spread, ((name, type, default, keyword_only), ...))
PyObject* from_signature(const Signature& s) {
  Ref parameters(checked(PyTuple_New(s.count)));
  for (int i = 0; i < s.count; ++i) {
    // Whether by position is a fact of the signature: what follows `positional` has no place.
    Parameter p = s.parameters[i];
    p.keyword_only = i >= s.positional;
    PyTuple_SET_ITEM(parameters.get(), i, checked(from_parameter(p)));
  }
  return Py_BuildValue("(iOO)", s.receiver, s.spread ? Py_True : Py_False, parameters.get());
}

// [(table, name, whether a method, (signature, ...)), ...]
PyObject* signatures(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref out(checked(PyList_New(0)));
    for (const auto& [entry, function] : generated_methods()) {
      const Callable& callable = entry->callable;
      Ref overloads(checked(PyTuple_New(callable.count)));
      for (int k = 0; k < callable.count; ++k)
        PyTuple_SET_ITEM(overloads.get(), k, checked(from_signature(callable.signatures[k])));
      const Ref row(checked(Py_BuildValue("(ssOO)", entry->table, entry->name,
                                          entry->method ? Py_True : Py_False, overloads.get())));
      checked(PyList_Append(out.get(), row.get()));
    }
    return out.release();
  });
}

PyMethodDef functions[] = {
    {"_signatures", signatures, METH_NOARGS, "What each operation can be called with."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_signatures(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace taeda::python
