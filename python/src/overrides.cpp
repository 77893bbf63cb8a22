#include "overrides.h"

#include <cstring>
#include <string>

#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

PyTypeObject *plain_type = nullptr, *plain_parameter_type = nullptr;

namespace {

/// What is heeded on a thread.
enum class Heeded : uint8_t { All, Modes, Nothing };
thread_local Heeded heeded = Heeded::All;
thread_local std::vector<PyObject*> modes;  // owned; the last one is asked first
int modes_of_all_threads = 0;

PyTypeObject *known_tensor = nullptr, *known_parameter = nullptr;
PyObject* attribute = nullptr;  // "__torch_function__"
PyObject* disabled = nullptr;   // what a class has that takes no part
bool functions_look = false;    // whether Python's functions look for overrides

void choose_plain_types() {
  plain_type = modes_of_all_threads ? nullptr : known_tensor;
  plain_parameter_type = modes_of_all_threads ? nullptr : known_parameter;
}

void push_mode(PyObject* mode) {
  Py_INCREF(mode);
  modes.push_back(mode);
  ++modes_of_all_threads;
  choose_plain_types();
}
/// The reference is the caller's.
PyObject* pop_mode() {
  PyObject* mode = modes.back();
  modes.pop_back();
  --modes_of_all_threads;
  choose_plain_types();
  return mode;
}

/// A mode answers without itself; those below it stay.
class WithoutMode {
 public:
  WithoutMode() : mode_(pop_mode()) {}
  ~WithoutMode() { push_mode(mode_.get()); }
  WithoutMode(const WithoutMode&) = delete;
  WithoutMode& operator=(const WithoutMode&) = delete;
  PyObject* get() const { return mode_.get(); }

 private:
  Ref mode_;
};

bool class_overrides(PyTypeObject* type) {
  if (type == known_tensor || type == known_parameter || !attribute) return false;
  PyObject* found = _PyType_Lookup(type, attribute);
  return found && found != disabled;
}

/// Imports the module that makes Python's functions look for overrides.
void have_functions_look() {
  if (functions_look) return;
  functions_look = true;
  const Ref module(checked(PyImport_ImportModule("taeda.overrides.replaced")));
  Ref(checked(PyObject_CallMethod(module.get(), "switch_on", nullptr)));
}

Ref tuple_of(PyObject* first, PyObject* const* rest, Py_ssize_t count) {
  const Py_ssize_t before = first ? 1 : 0;
  Ref out(checked(PyTuple_New(before + count)));
  if (first) PyTuple_SET_ITEM(out.get(), 0, Py_NewRef(first));
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(out.get(), before + i, Py_NewRef(rest[i]));
  return out;
}

Ref keywords(PyObject* const* values, PyObject* names) {
  Ref out(checked(PyDict_New()));
  for (Py_ssize_t k = 0; names && k < PyTuple_GET_SIZE(names); ++k)
    checked(PyDict_SetItem(out.get(), PyTuple_GET_ITEM(names, k), values[k]));
  return out;
}

Ref method_of_tensor(const char* name) {
  auto* cls = reinterpret_cast<PyObject*>(tensor_type);
  PyObject* found = PyObject_GetAttrString(cls, name);
  if (const char* rest = std::strchr(name + 1, '_'); !found && rest) {  // "linalg_det" is det there
    PyErr_Clear();
    found = PyObject_GetAttrString(cls, rest + 1);
  }
  return Ref(checked(found));
}

/// The function of a name as callables have it: "add" of the extension, "linalg_norm" of its part
/// "_linalg", "bilinear" of "_functional".
Ref function_named(const std::string& name) {
  PyObject* extension = checked(PyImport_AddModule("taeda._C"));
  if (const size_t at = name.find('_', 1); at != std::string::npos) {
    const Ref part(PyObject_GetAttrString(extension, ("_" + name.substr(0, at)).c_str()));
    if (part && PyModule_Check(part.get()) && part.get() != extension)
      if (PyObject* found = PyObject_GetAttrString(part.get(), name.c_str() + at + 1))
        return Ref(found);
    PyErr_Clear();
  }
  if (PyObject* found = PyObject_GetAttrString(extension, name.c_str())) return Ref(found);
  PyErr_Clear();
  const Ref functional(checked(PyObject_GetAttrString(extension, "_functional")));
  return Ref(checked(PyObject_GetAttrString(functional.get(), name.c_str())));
}

[[noreturn]] void nobody_answered(PyObject* function, PyObject* types) {
  const Ref module(checked(PyImport_ImportModule("taeda.overrides")));
  Ref(checked(PyObject_CallMethod(module.get(), "_nobody_answered", "OO", function, types)));
  throw ErrorIsSet();
}

}  // namespace

bool has_override(PyObject* object) {
  return heeded == Heeded::All && class_overrides(Py_TYPE(object));
}

void throw_if_overridden(PyObject* object) {
  if (!has_override(object)) return;
  PyErr_Format(PyExc_TypeError, "%s cannot be an argument here", Py_TYPE(object)->tp_name);
  throw Overridden();
}

bool Overrides::add_one(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (!class_overrides(type)) return false;
  auto at = objects_.begin();
  for (; at != objects_.end(); ++at) {
    if (Py_TYPE(*at) == type) return true;
    if (PyType_IsSubtype(type, Py_TYPE(*at))) break;
  }
  for (auto later = at; later != objects_.end(); ++later)
    if (Py_TYPE(*later) == type) return true;
  objects_.insert(at, object);
  return true;
}

void Overrides::add_slice(PyObject* object) {
  if (!PySlice_Check(object)) return;
  const auto* s = reinterpret_cast<PySliceObject*>(object);
  for (PyObject* bound : {s->start, s->stop, s->step}) add_one(bound);
}

void Overrides::add(PyObject* object) {
  if (heeded != Heeded::All || add_one(object)) return;
  add_slice(object);
  if (!is_sequence(object)) return;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (!add_one(item)) add_slice(item);
  }
}

bool Overrides::any() const {
  return !objects_.empty() || (heeded != Heeded::Nothing && !modes.empty());
}

PyObject* Overrides::ask(PyObject* function, PyObject* args, PyObject* kwargs) const {
  Ref types(checked(PyTuple_New(static_cast<Py_ssize_t>(objects_.size()))));
  for (size_t i = 0; i < objects_.size(); ++i)
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(objects_[i]))));
  const auto answer = [&](PyObject* object) {
    const Ref method(checked(PyObject_GetAttr(object, attribute)));
    return checked(
        PyObject_CallFunctionObjArgs(method.get(), function, types.get(), args, kwargs, nullptr));
  };
  if (heeded != Heeded::Nothing && !modes.empty()) {
    const WithoutMode mode;
    PyObject* made = answer(mode.get());
    if (made != Py_NotImplemented) return made;
    Py_DECREF(made);
  }
  for (PyObject* object : objects_) {
    PyObject* made = answer(object);
    if (made != Py_NotImplemented) return made;
    Py_DECREF(made);
  }
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* Overrides::must_answer(PyObject* function, PyObject* args, PyObject* kwargs) const {
  Ref made(ask(function, args, kwargs));
  if (made.get() != Py_NotImplemented) return made.release();
  Ref types(checked(PyList_New(0)));
  for (PyObject* object : objects_)
    checked(PyList_Append(types.get(), reinterpret_cast<PyObject*>(Py_TYPE(object))));
  nobody_answered(function, types.get());
}

PyObject* overridden_call(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                          PyObject* names) {
  Overrides overrides;
  if (self) overrides.add(self);
  overrides.add(args, count + (names ? PyTuple_GET_SIZE(names) : 0));
  if (!overrides.any()) return nullptr;
  have_functions_look();
  const Ref function = self ? method_of_tensor(name) : function_named(name);
  const Ref all = tuple_of(self, args, count), kwargs = keywords(args + count, names);
  return overrides.must_answer(function.get(), all.get(), kwargs.get());
}

PyObject* overridden_method(const char* name, std::initializer_list<PyObject*> args,
                            bool may_decline) {
  Overrides overrides;
  const auto count = static_cast<Py_ssize_t>(args.size());
  overrides.add(args.begin(), count);
  if (!overrides.any()) return nullptr;
  have_functions_look();
  const Ref function = method_of_tensor(name);
  const Ref all = tuple_of(nullptr, args.begin(), count), kwargs = keywords(nullptr, nullptr);
  return may_decline ? overrides.ask(function.get(), all.get(), kwargs.get())
                     : overrides.must_answer(function.get(), all.get(), kwargs.get());
}

PyObject* answered(PyObject* made) {
  if (!made)
    raise(PyExc_TypeError, "an object with __torch_function__ stands where none is looked for");
  return made;
}

PyObject* overridden_attribute(const char* name, PyObject* self, PyObject* value) {
  Overrides overrides;
  overrides.add(self);
  if (value) overrides.add(value);
  if (!overrides.any()) return nullptr;
  have_functions_look();
  const Ref descriptor = method_of_tensor(name);
  const Ref function(
      checked(PyObject_GetAttrString(descriptor.get(), value ? "__set__" : "__get__")));
  const Ref args = tuple_of(self, &value, value ? 1 : 0), kwargs = keywords(nullptr, nullptr);
  return overrides.must_answer(function.get(), args.get(), kwargs.get());
}

void note_class(PyTypeObject* type) {
  if (!functions_look && class_overrides(type)) have_functions_look();
}

void set_plain_types(PyTypeObject* tensor, PyTypeObject* parameter) {
  if (tensor) known_tensor = tensor;
  if (parameter) known_parameter = parameter;
  choose_plain_types();
}

namespace {

// Guards: objects that hold what was heeded before, with `__enter__` and `__exit__`.

struct Guard {
  PyObject_HEAD std::vector<Heeded>* before;
};

template <Heeded H>
PyObject* enter(PyObject* self, PyObject*) {
  reinterpret_cast<Guard*>(self)->before->push_back(heeded);
  if (H > heeded) heeded = H;
  Py_RETURN_NONE;
}
PyObject* leave(PyObject* self, PyObject*) {
  auto& before = *reinterpret_cast<Guard*>(self)->before;
  if (!before.empty()) {
    heeded = before.back();
    before.pop_back();
  }
  Py_RETURN_NONE;
}
PyObject* new_guard(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) reinterpret_cast<Guard*>(self)->before = new std::vector<Heeded>;
  return self;
}
void end_guard(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<Guard*>(self)->before;
  type->tp_free(self);
  Py_DECREF(type);
}

template <Heeded H>
void add_guard(PyObject* module, const char* full_name) {
  static PyMethodDef methods[] = {{"__enter__", enter<H>, METH_NOARGS, nullptr},
                                  {"__exit__", leave, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static const char about[] =
      "A block, of `with`, in which `__torch_function__` of subclasses of Tensor is not asked.";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_new, reinterpret_cast<void*>(new_guard)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(end_guard)},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {full_name, sizeof(Guard), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, std::strrchr(full_name, '.') + 1, type.get()));
}

/// Calls a function without overrides: what a class has as `__torch_function__` that takes no part.
PyObject* call_plainly(PyObject*, PyObject* args) {
  PyObject *function, *types, *positional, *named = nullptr;
  if (!PyArg_ParseTuple(args, "OOO!|O", &function, &types, &PyTuple_Type, &positional, &named))
    return nullptr;
  const Heeded before = heeded;
  if (heeded == Heeded::All) heeded = Heeded::Modes;
  PyObject* made = PyObject_Call(function, positional, named == Py_None ? nullptr : named);
  heeded = before;
  return made;
}

Overrides among(PyObject* const* objects, Py_ssize_t count) {
  Overrides out;
  out.add(objects, count);
  return out;
}

PyObject* has_any(PyObject*, PyObject* objects) {
  return guarded([&]() -> PyObject* {
    const Ref all(checked(PySequence_Fast(objects, "expected an iterable of arguments")));
    return PyBool_FromLong(
        among(PySequence_Fast_ITEMS(all.get()), PySequence_Fast_GET_SIZE(all.get())).any());
  });
}
PyObject* has_one(PyObject*, PyObject* object) {
  return guarded([&] { return PyBool_FromLong(among(&object, 1).any()); });
}
PyObject* has_several(PyObject*, PyObject* const* objects, Py_ssize_t count) {
  return guarded([&] { return PyBool_FromLong(among(objects, count).any()); });
}

// _handle_torch_function(function, objects, args, kwargs): what those among the objects answer.
PyObject* handle(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 4 || !is_sequence(args[1]) || !PyTuple_Check(args[2]) || !PyDict_Check(args[3]))
      raise(PyExc_TypeError, "_handle_torch_function takes a function, objects, args and kwargs");
    Overrides overrides;
    overrides.add(PySequence_Fast_ITEMS(args[1]), PySequence_Fast_GET_SIZE(args[1]));
    return overrides.must_answer(args[0], args[2], args[3]);
  });
}

PyObject* push(PyObject*, PyObject* mode) {
  return guarded([&]() -> PyObject* {
    push_mode(mode);
    have_functions_look();
    Py_RETURN_NONE;
  });
}
PyObject* pop(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (modes.empty()) raise(PyExc_RuntimeError, "no mode of torch functions is on");
    return pop_mode();
  });
}
PyObject* depth(PyObject*, PyObject*) {
  return PyLong_FromSsize_t(static_cast<Py_ssize_t>(modes.size()));
}
PyObject* mode_at(PyObject*, PyObject* number) {
  return guarded([&]() -> PyObject* {
    const int64_t i = to_int(number);
    if (i < 0 || i >= static_cast<int64_t>(modes.size()))
      raise(PyExc_IndexError, "no mode of that number is on");
    return Py_NewRef(modes[static_cast<size_t>(i)]);
  });
}
PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(heeded == Heeded::All); }
PyObject* look(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    have_functions_look();
    Py_RETURN_NONE;
  });
}
PyObject* set_parameter_class(PyObject*, PyObject* type) {
  if (PyType_Check(type)) {
    Py_INCREF(type);
    set_plain_types(nullptr, reinterpret_cast<PyTypeObject*>(type));
  }
  Py_RETURN_NONE;
}

PyCFunction fast(PyObject* (*f)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef functions[] = {
    {"_disabled_torch_function_impl", call_plainly, METH_VARARGS,
     "As `__torch_function__` of a class: takes no part, operations give plain tensors."},
    {"_has_torch_function", has_any, METH_O, "Whether one of the arguments answers calls."},
    {"_has_torch_function_unary", has_one, METH_O, "Whether the argument answers calls."},
    {"_has_torch_function_variadic", fast(has_several), METH_FASTCALL,
     "Whether one of the arguments answers calls."},
    {"_handle_torch_function", fast(handle), METH_FASTCALL, "function, objects, args, kwargs"},
    {"_push_on_torch_function_stack", push, METH_O, "Has a mode answer the thread's calls."},
    {"_pop_torch_function_stack", pop, METH_NOARGS, "Takes the last mode away, and gives it."},
    {"_len_torch_function_stack", depth, METH_NOARGS, "How many modes the thread has."},
    {"_get_function_stack_at", mode_at, METH_O, "A mode of the thread, from the first on."},
    {"_is_torch_function_enabled", is_enabled, METH_NOARGS, "Whether objects are asked."},
    {"_have_functions_look", look, METH_NOARGS,
     "Has functions that are written in Python look for overrides, too."},
    {"_set_parameter_class", set_parameter_class, METH_O, "Objects of this class are never asked."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_overrides(PyObject* module) {
  attribute = checked(PyUnicode_InternFromString("__torch_function__"));
  checked(PyModule_AddFunctions(module, functions));
  disabled = checked(PyObject_GetAttrString(module, "_disabled_torch_function_impl"));
  add_guard<Heeded::Modes>(module, "torch._C.DisableTorchFunctionSubclass");
  add_guard<Heeded::Nothing>(module, "torch._C.DisableTorchFunction");
}

}  // namespace taeda::python
