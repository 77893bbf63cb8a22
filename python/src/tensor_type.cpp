#include "tensor_type.h"

#include <structmember.h>

#include <cstddef>
#include <new>
#include <string_view>
#include <vector>

#include "attributes.h"
#include "autograd_function.h"
#include "generated_methods.h"
#include "indexing.h"
#include "numbers.h"
#include "overrides.h"
#include "taeda/base/error.h"
#include "taeda/tensor/wrapper.h"
#include "tensor_methods.h"
#include "values.h"

namespace taeda::python {

PyTypeObject* tensor_base_type = nullptr;
PyTypeObject* tensor_type = nullptr;

namespace {

TensorObject* as_object(PyObject* self) { return reinterpret_cast<TensorObject*>(self); }

// Memory of objects of the class `tensor_type` itself, for the next ones.
constexpr int kMostFree = 128;
PyObject* free_objects[kMostFree];
int free_count = 0;

TensorObject* allocate(PyTypeObject* type) {
  PyObject* object;
  if (type == tensor_type && free_count > 0) {
    object = free_objects[--free_count];
    PyObject_Init(object, type);
  } else {
    if (type != tensor_type) note_class(type);
    object = type->tp_alloc(type, 0);
    if (!object) throw ErrorIsSet();
    PyObject_GC_UnTrack(object);
  }
  auto* self = as_object(object);
  new (&self->tensor) Tensor();
  self->attributes = self->weak_references = self->hooks = nullptr;
  return self;
}

void give_back(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (type == tensor_type && free_count < kMostFree)
    free_objects[free_count++] = self;
  else
    type->tp_free(self);
  Py_DECREF(type);
}

bool would_be_missed(TensorObject* self) {
  return Py_TYPE(self) != tensor_type || self->attributes || self->weak_references || self->hooks;
}

// True: the tensor lives on without Python and has taken the object (Note [Who owns whom]).
bool handed_to_tensor(PyObject* object) {
  auto* self = as_object(object);
  if (!self->tensor.defined() || self->tensor.use_count() == 1) return false;
  if (!would_be_missed(self)) {
    clear_wrapper(self->tensor);
    return false;
  }
  Py_SET_REFCNT(object, 1);
  set_owns_wrapper(self->tensor, true);
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  const Tensor mine = std::move(self->tensor);  // if it was the last one, the hook ends the object
  return true;
}

void deallocate(PyObject* object) {
  auto* self = as_object(object);
  if (handed_to_tensor(object)) return;
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  if (self->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(self->attributes);
  Py_CLEAR(self->hooks);
  if (self->tensor.defined()) clear_wrapper(self->tensor);
  self->tensor.~Tensor();
  give_back(object);
}

// The tensor ends, and with it the object that it owns.
void end_wrapper(void* wrapper) noexcept {
  if (!Py_IsInitialized()) return;
  HoldGil gil;
  Py_DECREF(static_cast<PyObject*>(wrapper));
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  auto* self = as_object(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->attributes);
  Py_VISIT(self->hooks);
  // The hook in C++ holds them, too, and nobody but this object holds that; so it is with ctx of a
  // function written in Python.
  if (!self->tensor.defined() || self->tensor.use_count() != 1) return 0;
  Py_VISIT(self->hooks);
  Py_VISIT(context_that_ends_with(self->tensor));
  return 0;
}

int clear(PyObject* object) {
  auto* self = as_object(object);
  Py_CLEAR(self->attributes);
  if (self->hooks) PyDict_Clear(self->hooks);
  Py_CLEAR(self->hooks);
  return 0;
}

/// "tensor([[1.],\n        [2.]])" with the name of a subclass, and its lines below each other.
std::string under_name(const std::string& text, PyTypeObject* type) {
  constexpr std::string_view kPlain = "tensor";
  if (type == plain_parameter_type || !text.starts_with(kPlain)) return text;
  const std::string name =
      reinterpret_cast<PyHeapTypeObject*>(type)->ht_name
          ? std::string(to_text(reinterpret_cast<PyHeapTypeObject*>(type)->ht_name))
          : "tensor";
  std::string out = name;
  for (size_t i = kPlain.size(); i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '\n') continue;
    size_t spaces = 0;
    while (i + 1 < text.size() && text[i + 1] == ' ') ++spaces, ++i;
    const size_t wanted = spaces + name.size();
    out.append(wanted > kPlain.size() ? wanted - kPlain.size() : 0, ' ');
  }
  return out;
}

PyObject* repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self))
      if (PyObject* made = overridden_method("__repr__", {self})) return made;
    std::string text = tensor_of(self).repr();
    // The package's own name is for programs written for it in C++.
    for (const std::string_view own : {"dtype=taeda.", "layout=taeda."})
      if (const size_t at = text.rfind(own); at != std::string::npos)
        text.replace(at + own.size() - 6, 6, "torch.");
    if (Py_TYPE(self) != tensor_type) text = under_name(text, Py_TYPE(self));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyObject* set_tensor_class(PyObject*, PyObject* type) {
  return guarded([&]() -> PyObject* {
    if (!PyType_Check(type) ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_base_type))
      raise(PyExc_TypeError, "_set_tensor_class expects a subclass of TensorBase");
    Py_INCREF(type);
    tensor_type = reinterpret_cast<PyTypeObject*>(type);
    // The class adds methods and nothing that would have to be taken down.
    tensor_type->tp_dealloc = deallocate;
    set_plain_types(tensor_type, nullptr);
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    {"_set_tensor_class", set_tensor_class, METH_O, "Makes results objects of this class."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  if (!tensor.defined()) raise(PyExc_ValueError, "an undefined tensor cannot have a class");
  auto* self = allocate(type);
  self->tensor = std::move(tensor);
  auto* object = reinterpret_cast<PyObject*>(self);
  if (offer_wrapper(self->tensor, object) != object) {
    self->tensor.reset();
    Py_DECREF(object);
    raise(PyExc_RuntimeError, "the tensor already has an object of another class");
  }
  PyObject_GC_Track(object);
  return object;
}

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  auto* known = static_cast<PyObject*>(wrapper_of(tensor));
  if (!known) return wrap_as(tensor_type, std::move(tensor));
  if (!owns_wrapper(tensor)) {
    Py_INCREF(known);
    return known;
  }
  // It comes back to Python with the reference that the tensor held.
  set_owns_wrapper(tensor, false);
  as_object(known)->tensor = std::move(tensor);
  if (!PyObject_GC_IsTracked(known)) PyObject_GC_Track(known);
  return known;
}

void add_tensor_type(PyObject* module) {
  set_wrapper_hook(end_wrapper);
  static std::vector<PyMethodDef> methods = collect_tensor_methods();
  for (PyGetSetDef* a = tensor_attributes; a->name; ++a) a->closure = const_cast<char*>(a->name);
  static const char about[] =
      "What `torch.Tensor` derives from: the library's tensor, of any shape.";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash)},
                         {Py_tp_members, members},
                         {Py_tp_getset, tensor_attributes},
                         {Py_tp_methods, methods.data()},
                         {Py_tp_new, reinterpret_cast<void*>(new_tensor_object)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare_tensors)},
                         {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                         {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                         {Py_mp_length, reinterpret_cast<void*>(tensor_length)},
                         {Py_sq_contains, reinterpret_cast<void*>(tensor_contains)},
                         TAEDA_NUMBER_SLOTS,
                         {0, nullptr}};
  PyType_Spec spec = {"torch._C.TensorBase", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  tensor_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  tensor_type = tensor_base_type;
  checked(
      PyModule_AddObjectRef(module, "TensorBase", reinterpret_cast<PyObject*>(tensor_base_type)));
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace taeda::python
