#include "module_base.h"

#include "tensor_type.h"

namespace taeda::python {

namespace {

PyTypeObject* module_type = nullptr;
/// Hooks of all modules, dicts by number, as nn.Module has given them.
PyObject* hooks_of_all = nullptr;

// Names in `__dict__`. Parameters, buffers and modules are attributes without being in it.
struct Names {
  PyObject* registries[3];
  PyObject* hooks[4];
  PyObject *forward, *call_with_hooks, *assign, *discard, *not_persistent;
};
Names names;

PyObject* interned(const char* text) { return checked(PyUnicode_InternFromString(text)); }

void make_names() {
  names = {{interned("_parameters"), interned("_buffers"), interned("_modules")},
           {interned("_forward_hooks"), interned("_forward_pre_hooks"), interned("_backward_hooks"),
            interned("_backward_pre_hooks")},
           interned("forward"),
           interned("_call_impl"),
           interned("_assign"),
           interned("discard"),
           interned("_non_persistent_buffers_set")};
}

/// `__dict__`. Objects have nothing else, so that copies and pickles are made of it alone.
Ref attributes_of(PyObject* self) { return Ref(checked(PyObject_GenericGetDict(self, nullptr))); }

/// The entry of a dict, borrowed; nullptr if there is none, or no dict.
PyObject* entry(PyObject* dict, PyObject* key) {
  if (!dict || !PyDict_Check(dict)) return nullptr;
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (!found && PyErr_Occurred()) throw ErrorIsSet();
  return found;
}

/// The dict of parameters, buffers or modules that has the name; nullptr if none has.
PyObject* registry_with(PyObject* attributes, PyObject* name) {
  for (PyObject* registry : names.registries)
    if (PyObject* dict = entry(attributes, registry); dict && entry(dict, name)) return dict;
  return nullptr;
}

PyObject* registered(PyObject* attributes, PyObject* name) {
  PyObject* dict = registry_with(attributes, name);
  return dict ? Py_NewRef(entry(dict, name)) : nullptr;
}

PyObject* missing(PyObject* self, PyObject* name) {
  return PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'",
                      Py_TYPE(self)->tp_name, name);
}

// As object's own look-up, and parameters, buffers and modules where that finds nothing.
// Note [Attributes of subclasses of modules] says which classes have it.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    PyTypeObject* type = Py_TYPE(self);
    Ref held = Ref::borrow(_PyType_Lookup(type, name));
    PyObject* of_class = held.get();
    const descrgetfunc getter = of_class ? Py_TYPE(of_class)->tp_descr_get : nullptr;
    if (getter && Py_TYPE(of_class)->tp_descr_set)
      return getter(of_class, self, reinterpret_cast<PyObject*>(type));
    const Ref own = attributes_of(self);
    if (PyObject* value = entry(own.get(), name)) return Py_NewRef(value);
    if (getter) return getter(of_class, self, reinterpret_cast<PyObject*>(type));
    if (of_class) return held.release();
    PyObject* found = registered(own.get(), name);
    return found ? found : missing(self, name);
  });
}

// `__getattr__`, for classes that have one of their own and ask their base.
PyObject* get_registered(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    PyObject* found = registered(attributes_of(self).get(), name);
    return found ? found : missing(self, name);
  });
}

void remove(PyObject* self, PyObject* name) {
  const Ref own = attributes_of(self);
  PyObject* dict = registry_with(own.get(), name);
  if (!dict) return checked(PyObject_GenericSetAttr(self, name, nullptr));
  checked(PyDict_DelItem(dict, name));
  if (PyObject* some = entry(own.get(), names.not_persistent))
    Ref(checked(PyObject_CallMethodOneArg(some, names.discard, name)));
}

/// Whether it is a tensor that cannot be a parameter or buffer: of no class of its own, unmarked.
bool is_plain_tensor(PyObject* value) {
  return Py_TYPE(value) == tensor_type && !reinterpret_cast<TensorObject*>(value)->attributes;
}

// Parameters and modules, and what takes the place of one, are for Python to register.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return guarded_status([&] {
    if (!value) {
      remove(self, name);
    } else if ((is_tensor(value) && !is_plain_tensor(value)) ||
               PyType_IsSubtype(Py_TYPE(value), module_type) ||
               registry_with(attributes_of(self).get(), name)) {
      Ref(checked(PyObject_CallMethodObjArgs(self, names.assign, name, value, nullptr)));
    } else {
      checked(PyObject_GenericSetAttr(self, name, value));
    }
    return 0;
  });
}

// As methods and not as a slot: object.__setattr__, by which programs keep a module from being
// registered, refuses to jump over a slot.
PyObject* set_by_name(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) raise(PyExc_TypeError, "__setattr__ takes a name and a value");
    checked(set_attribute(self, args[0], args[1]));
    Py_RETURN_NONE;
  });
}
PyObject* remove_by_name(PyObject* self, PyObject* name) {
  return guarded([&]() -> PyObject* {
    checked(set_attribute(self, name, nullptr));
    Py_RETURN_NONE;
  });
}

/// Whether calling is more than forward: there are hooks, or `__init__` has not run.
bool has_hooks(PyObject* attributes) {
  for (PyObject* hooks : names.hooks) {
    PyObject* dict = entry(attributes, hooks);
    if (!dict || PyDict_GET_SIZE(dict) > 0) return true;
  }
  for (Py_ssize_t i = 0; hooks_of_all && i < PyTuple_GET_SIZE(hooks_of_all); ++i)
    if (PyDict_GET_SIZE(PyTuple_GET_ITEM(hooks_of_all, i)) > 0) return true;
  return false;
}

PyObject* call_module(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const Ref attributes = attributes_of(self);
    PyObject* name = has_hooks(attributes.get()) ? names.call_with_hooks : names.forward;
    const bool own = entry(attributes.get(), name) != nullptr;
    const Ref function = Ref::borrow(own ? nullptr : _PyType_Lookup(Py_TYPE(self), name));
    // A function of the class takes the module before the arguments: no bound method is made.
    constexpr Py_ssize_t kMost = 8;
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (!function || !PyFunction_Check(function.get()) || count > kMost ||
        (kwargs && PyDict_GET_SIZE(kwargs) > 0)) {
      Ref bound(checked(PyObject_GetAttr(self, name)));
      return PyObject_Call(bound.get(), args, kwargs);
    }
    PyObject* all[kMost + 1] = {self};
    for (Py_ssize_t i = 0; i < count; ++i) all[i + 1] = PyTuple_GET_ITEM(args, i);
    return PyObject_Vectorcall(function.get(), all, static_cast<size_t>(count) + 1, nullptr);
  });
}

// Note [Attributes of subclasses of modules]
//
// A class that defines `__getattr__`, `__getattribute__` or `__call__` has what Python makes of
// it: its `__getattr__` is asked for parameters, buffers and modules, as for whatever else is not
// found. To Python, therefore, the base has object's `__getattribute__`, a `__getattr__` that looks
// into the registries, and a `__call__` that is a method (which inspect.signature understands).
// That costs an exception for each parameter and a bound method for each call. Wherever a class
// overrides none of it, the slots below do the same at once; Python takes them away again where
// one of these methods is set later.
PyObject* init_subclass(PyObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    auto* cls = reinterpret_cast<PyTypeObject*>(type);
    auto same = [&](const char* name) {
      Ref text(interned(name));
      return _PyType_Lookup(cls, text.get()) == _PyType_Lookup(module_type, text.get());
    };
    if (same("__getattr__") && same("__getattribute__")) cls->tp_getattro = get_attribute;
    if (same("__call__")) cls->tp_call = call_module;
    Ref next(checked(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type),
                                                  module_type, type, nullptr)));
    Ref inherited(checked(PyObject_GetAttrString(next.get(), "__init_subclass__")));
    return PyObject_Call(inherited.get(), args, kwargs);
  });
}

PyObject* set_hooks_of_all(PyObject*, PyObject* dicts) {
  Py_XSETREF(hooks_of_all, Py_NewRef(dicts));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__call__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_module)),
     METH_VARARGS | METH_KEYWORDS | METH_COEXIST,
     "__call__($self, /, *args, **kwargs)\n--\n\nforward, with hooks around it."},
    {"__setattr__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(set_by_name)),
     METH_FASTCALL, "Sets an attribute; parameters, buffers and modules are registered."},
    {"__delattr__", remove_by_name, METH_O, "Deletes an attribute, registered or not."},
    {"__getattr__", get_registered, METH_O, "A parameter, buffer or module of that name."},
    {"__init_subclass__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(init_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef functions[] = {
    {"_set_module_hooks", set_hooks_of_all, METH_O, "The dicts of hooks of all modules, a tuple."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_module_base(PyObject* module) {
  make_names();
  static const char about[] =
      "What `torch.nn.Module` derives from: attributes and calls of modules.";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                         {Py_tp_call, reinterpret_cast<void*>(call_module)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"torch._C.ModuleBase", sizeof(PyObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  module_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyDict_DelItemString(module_type->tp_dict, "__getattribute__"));
  PyType_Modified(module_type);
  checked(PyModule_AddObjectRef(module, "ModuleBase", reinterpret_cast<PyObject*>(module_type)));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace taeda::python
