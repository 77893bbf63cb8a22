#include "hooks.h"

#include <memory>

#include "taeda/autograd/node.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

/// Calls every hook of an ordered dict with a tensor; what one gives that is not None is given to
/// the next.
Tensor run_hooks(PyObject* hooks, Tensor grad) {
  Ref list(PyDict_Values(hooks));  // hooks may come and go meanwhile
  if (!list) throw PythonError();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    Ref given(wrap(grad));
    Ref out(PyObject_CallOneArg(PyList_GET_ITEM(list.get(), i), given.get()));
    if (!out) throw PythonError();
    if (out.get() == Py_None) continue;
    if (!is_tensor(out.get())) {
      PyErr_Format(PyExc_TypeError, "hook returned an object of type %s, expected a Tensor",
                   Py_TYPE(out.get())->tp_name);
      throw PythonError();
    }
    grad = tensor_of(out.get());
  }
  return grad;
}

PyObject* gradients(const autograd::TensorVec& grads) {
  Ref out(PyTuple_New(static_cast<Py_ssize_t>(grads.size())));
  if (!out) throw PythonError();
  for (size_t i = 0; i < grads.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), wrap(grads[i]));
  return out.release();
}

/// What a hook returned, in place of `given`.
autograd::TensorVec taken(PyObject* returned, autograd::TensorVec given) {
  if (returned == Py_None) return given;
  Ref tuple = PyTuple_Check(returned) ? Ref::borrow(returned) : Ref(PyTuple_Pack(1, returned));
  if (!tuple) throw PythonError();
  if (static_cast<size_t>(PyTuple_GET_SIZE(tuple.get())) != given.size()) {
    PyErr_Format(PyExc_RuntimeError,
                 "hook has returned an incorrect number of values (got %zd, but expected %zu)",
                 PyTuple_GET_SIZE(tuple.get()), given.size());
    throw PythonError();
  }
  autograd::TensorVec out;
  for (size_t i = 0; i < given.size(); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i));
    if (item != Py_None && !is_tensor(item)) {
      PyErr_SetString(PyExc_TypeError, "a hook of a node returns Tensors or None");
      throw PythonError();
    }
    out.push_back(item == Py_None ? Tensor() : tensor_of(item));
  }
  return out;
}

/// The tensor's dict of hooks on its gradient, which this installs when it is first asked for.
PyObject* tensor_hooks(PyObject*, PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(self)) raise(PyExc_TypeError, "_tensor_hooks expects a Tensor");
    auto* object = reinterpret_cast<TensorObject*>(self);
    if (!object->hooks) {
      Ref hooks(checked(PyDict_New()));
      tensor_of(self).register_hook(
          [kept = std::make_shared<Kept>(hooks.get())](const Tensor& grad) -> Tensor {
            HoldGil gil;
            return run_hooks(kept->get(), grad);
          });
      object->hooks = hooks.release();
    }
    Py_INCREF(object->hooks);
    return object->hooks;
  });
}

/// Has the hooks of a dict called after a gradient was added to a leaf's.
PyObject* add_post_accumulate_hooks(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2 || !is_tensor(args[0]) || !PyDict_Check(args[1]))
      raise(PyExc_TypeError, "_add_post_accumulate_hooks takes a Tensor and a dict");
    tensor_of(args[0]).register_post_accumulate_grad_hook(
        [kept = std::make_shared<Kept>(args[1])](const Tensor& leaf) {
          HoldGil gil;
          Ref list(PyDict_Values(kept->get()));
          if (!list) throw PythonError();
          for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
            Ref given(wrap(leaf));
            Ref out(PyObject_CallOneArg(PyList_GET_ITEM(list.get(), i), given.get()));
            if (!out) throw PythonError();
          }
        });
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"_tensor_hooks", tensor_hooks, METH_O, "The dict of a tensor's hooks by number."},
    {"_add_post_accumulate_hooks",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(add_post_accumulate_hooks)),
     METH_FASTCALL, "leaf, dict of hooks"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

autograd::NodePostHook post_hook(PyObject* hook) {
  return [kept = std::make_shared<Kept>(hook)](autograd::TensorVec given,
                                               const autograd::TensorVec& took) {
    HoldGil gil;
    Ref inputs(gradients(given)), outputs(gradients(took));
    Ref out(PyObject_CallFunctionObjArgs(kept->get(), inputs.get(), outputs.get(), nullptr));
    if (!out) throw PythonError();
    return taken(out.get(), std::move(given));
  };
}

autograd::NodePreHook pre_hook(PyObject* hook) {
  return [kept = std::make_shared<Kept>(hook)](autograd::TensorVec given) {
    HoldGil gil;
    Ref outputs(gradients(given));
    Ref out(PyObject_CallOneArg(kept->get(), outputs.get()));
    if (!out) throw PythonError();
    return taken(out.get(), std::move(given));
  };
}

void add_hooks(PyObject* module) { checked(PyModule_AddFunctions(module, functions)); }

}  // namespace taeda::python
