// torch.Size: a tuple of ints that knows how many elements it stands for.
#include "values.h"

namespace taeda::python {

PyTypeObject* size_type = nullptr;

namespace {

PyObject* repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    std::string text = "torch.Size([";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      Ref item(checked(PyObject_Repr(PyTuple_GET_ITEM(self, i))));
      text += (i ? ", " : "") + std::string(to_text(item.get()));
    }
    return from_text(text + "])");
  });
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Ref self(checked(PyTuple_Type.tp_new(type, args, kwargs)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
      PyObject* item = PyTuple_GET_ITEM(self.get(), i);
      if (PyLong_CheckExact(item)) continue;
      if (!is_size(item))
        raise(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item " +
                                   std::to_string(i) + " is '" + Py_TYPE(item)->tp_name + "')");
      PyObject* number = checked(PyLong_FromLongLong(to_int(item)));
      PyTuple_SET_ITEM(self.get(), i, number);
      Py_DECREF(item);
    }
    return self.release();
  });
}

PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    int64_t n = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) n *= to_int(PyTuple_GET_ITEM(self, i));
    return PyLong_FromLongLong(n);
  });
}

/// What a tuple gives, as a Size.
PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_Check(tuple)) return tuple;
  Ref owned(tuple);
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), tuple);
}

PyObject* concat(PyObject* a, PyObject* b) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* repeat(PyObject* a, Py_ssize_t n) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n));
}
PyObject* subscript(PyObject* self, PyObject* key) {
  PyObject* out = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  return PySlice_Check(key) ? as_size(out) : out;
}
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref plain(checked(PySequence_List(self)));
    return Py_BuildValue("O((O))", size_type, plain.get());
  });
}

PyMethodDef methods[] = {{"numel", numel, METH_NOARGS, "The product of the sizes."},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* from_sizes(IntArrayRef sizes) {
  Ref out(checked(size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size()))));
  for (size_t i = 0; i < sizes.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), checked(PyLong_FromLongLong(sizes[i])));
  return out.release();
}

void add_size_type(PyObject* module) {
  static const char about[] = R"(The shape of a tensor: a tuple of the sizes of its dimensions.

>>> size = torch.ones(2, 3).size()
>>> size
torch.Size([2, 3])
>>> size.numel(), size[-1], len(size)
(6, 3, 2)
)";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_base, &PyTuple_Type},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_methods, methods},
                         {Py_sq_concat, reinterpret_cast<void*>(concat)},
                         {Py_sq_repeat, reinterpret_cast<void*>(repeat)},
                         {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  size_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "Size", reinterpret_cast<PyObject*>(size_type)));
}

}  // namespace taeda::python
