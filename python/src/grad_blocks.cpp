#include "grad_blocks.h"

#include "taeda/tensor/grad_mode.h"

namespace taeda::python {

namespace {

struct GradBlock {
  PyObject_HEAD bool before;  ///< what held when it was entered last
};

/// Block(function=None): one around a function is made by the class's `__call__`.
PyObject* make_block(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    PyObject* function = nullptr;
    if (PyTuple_GET_SIZE(args) > 0 || kwargs) {
      static const char* names[] = {"function", nullptr};
      if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", const_cast<char**>(names), &function))
        return nullptr;
    }
    Ref block(checked(type->tp_alloc(type, 0)));
    reinterpret_cast<GradBlock*>(block.get())->before = GradMode::is_enabled();
    return function && function != Py_None ? PyObject_CallOneArg(block.get(), function)
                                           : block.release();
  });
}

template <bool Enabled>
PyObject* enter(PyObject* self, PyObject*) {
  reinterpret_cast<GradBlock*>(self)->before = GradMode::is_enabled();
  GradMode::set_enabled(Enabled);
  Py_RETURN_NONE;
}

PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  GradMode::set_enabled(reinterpret_cast<GradBlock*>(self)->before);
  Py_RETURN_NONE;
}

template <bool Enabled>
void add_block(PyObject* module, const char* full_name, const char* name, const char* about) {
  static PyMethodDef methods[] = {
      {"__enter__", enter<Enabled>, METH_NOARGS, nullptr},
      {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(leave)), METH_FASTCALL,
       nullptr},
      {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_new, reinterpret_cast<void*>(make_block)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {full_name, sizeof(GradBlock), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  Ref type(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, name, type.get()));
}

}  // namespace

void add_grad_blocks(PyObject* module) {
  add_block<false>(module, "torch._C.NoGradBlock", "NoGradBlock",
                   "A block, of `with`, in which nothing is recorded for gradients.");
  add_block<true>(module, "torch._C.EnableGradBlock", "EnableGradBlock",
                  "A block, of `with`, in which gradients are recorded.");
}

}  // namespace taeda::python
