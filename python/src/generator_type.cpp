// torch.Generator.
#include <new>

#include "kinds.h"
#include "taeda/ops/create/create.h"
#include "values.h"

namespace taeda::python {

namespace {

struct GeneratorObject {
  PyObject_HEAD Generator generator;
};
PyTypeObject* generator_type;

const Generator& generator_of(PyObject* self) {
  return reinterpret_cast<GeneratorObject*>(self)->generator;
}

PyObject* new_object(Generator generator) {
  auto* self =
      reinterpret_cast<GeneratorObject*>(checked(generator_type->tp_alloc(generator_type, 0)));
  new (&self->generator) Generator(std::move(generator));
  return reinterpret_cast<PyObject*>(self);
}

PyObject* make(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"device", nullptr};
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names),
                                     &device))
      throw ErrorIsSet();
    return new_object(Generator(device && device != Py_None ? to_device(device) : Device(kCPU)));
  });
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<GeneratorObject*>(self)->generator.~Generator();
  type->tp_free(self);
  Py_DECREF(type);
}

/// Seeds are 64 bits, with or without a sign.
uint64_t to_seed(PyObject* object) {
  Ref number(checked(PyNumber_Index(object)));
  const unsigned long long seed = PyLong_AsUnsignedLongLong(number.get());
  if (!PyErr_Occurred()) return seed;
  PyErr_Clear();
  const long long negative = PyLong_AsLongLong(number.get());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_RuntimeError, "Overflow when unpacking long long");
  }
  return static_cast<uint64_t>(negative);
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    if (!PyIndex_Check(seed))
      raise(PyExc_RuntimeError,
            std::string("manual_seed expected a long, but got ") + Py_TYPE(seed)->tp_name);
    generator_of(self).manual_seed(to_seed(seed));
    Py_INCREF(self);
    return self;
  });
}
PyObject* seed(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(generator_of(self).seed()); });
}
PyObject* initial_seed(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(generator_of(self).current_seed()); });
}
PyObject* get_state(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::vector<uint8_t> bytes = generator_of(self).get_state();
    Tensor out = empty({static_cast<int64_t>(bytes.size())}, kByte);
    std::copy(bytes.begin(), bytes.end(), out.data_ptr<uint8_t>());
    return wrap(std::move(out));
  });
}
PyObject* set_state(PyObject* self, PyObject* state) {
  return guarded([&] {
    const Tensor& bytes = to_tensor(state);
    if (!bytes.defined() || bytes.dtype() != kByte)
      raise(PyExc_TypeError, "expected a torch.ByteTensor as the state of a generator");
    generator_of(self).set_state(bytes);
    Py_INCREF(self);
    return self;
  });
}
PyObject* clone_state(PyObject* self, PyObject*) {
  return guarded([&] { return new_object(generator_of(self).clone()); });
}
/// What makes it again, as PyTorch's files have it: its class, its device, and seed, offset and
/// state.
PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Ref where(checked(from_device(generator_of(self).device())));
    Ref state(checked(get_state(self, nullptr)));
    return Py_BuildValue("(O(O)(KOO))", generator_type, where.get(),
                         static_cast<unsigned long long>(generator_of(self).current_seed()),
                         Py_None, state.get());
  });
}
PyObject* restore(PyObject* self, PyObject* given) {
  const bool is_full = PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 3;
  return set_state(self, is_full ? PyTuple_GET_ITEM(given, 2) : given);
}
PyObject* device(PyObject* self, void*) {
  return guarded([&] { return from_device(generator_of(self).device()); });
}

PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O,
     "Restarts the sequence at a seed of 64 bits; returns the generator."},
    {"seed", seed, METH_NOARGS, "Seeds from the system's entropy; returns the seed."},
    {"initial_seed", initial_seed, METH_NOARGS, "The seed at which the sequence began."},
    {"get_state", get_state, METH_NOARGS, "The whole state, a tensor of bytes."},
    {"set_state", set_state, METH_O, "Goes on from what get_state gave."},
    {"clone_state", clone_state, METH_NOARGS, "An independent generator in the same state."},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__setstate__", restore, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"device", device, nullptr, "Where it draws.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* from_generator(const Generator& generator) { return new_object(generator); }
bool is_generator(PyObject* object) { return Py_TYPE(object) == generator_type; }
const Generator& to_generator(PyObject* object) { return generator_of(object); }

void add_generator_type(PyObject* module) {
  static const char about[] = R"(A sequence of random numbers on a device, "cpu" unless given.

The number that `manual_seed` takes is a scalar. The same seed draws the same numbers again;
`torch.default_generator` is what functions draw from that are given no `generator`.

>>> generator = torch.Generator().manual_seed(0)
>>> first = torch.rand(2, generator=generator)
>>> bool((torch.rand(2, generator=generator.manual_seed(0)) == first).all())
True
)";
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(about)},
                         {Py_tp_new, reinterpret_cast<void*>(make)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, slots};
  generator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "Generator", reinterpret_cast<PyObject*>(generator_type)));
  checked(PyModule_AddObject(module, "default_generator", new_object(default_generator(kCPU))));
}

}  // namespace taeda::python
