#include "kinds.h"

#include <algorithm>
#include <map>

#include "taeda/base/error.h"
#include "values.h"

namespace taeda::python {

namespace {

// dtypes, layouts and memory formats: a value with a name, one object each.
struct Named {
  PyObject_HEAD int value;
  const char* name;
};

PyTypeObject *dtype_type, *layout_type, *format_type;
PyObject* dtypes[48];
PyObject* layouts[3];

int value_of(PyObject* object) { return reinterpret_cast<Named*>(object)->value; }
ScalarType dtype_of_object(PyObject* object) { return static_cast<ScalarType>(value_of(object)); }

PyObject* repr_named(PyObject* self) {
  return PyUnicode_FromFormat("torch.%s", reinterpret_cast<Named*>(self)->name);
}
// A name alone: pickles find the value in the module by it.
PyObject* reduce_named(PyObject* self, PyObject*) {
  return PyUnicode_FromString(reinterpret_cast<Named*>(self)->name);
}
PyObject* same(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

PyObject* is_floating_point_of(PyObject* self, void*) {
  return PyBool_FromLong(is_floating_point(dtype_of_object(self)));
}
PyObject* is_complex_of(PyObject* self, void*) {
  return PyBool_FromLong(is_complex(dtype_of_object(self)));
}
PyObject* is_signed_of(PyObject* self, void*) {
  return PyBool_FromLong(is_signed(dtype_of_object(self)));
}
PyObject* itemsize_of(PyObject* self, void*) {
  return PyLong_FromLongLong(element_size(dtype_of_object(self)));
}
PyObject* to_real_of(PyObject* self, PyObject*) {
  return guarded([&] { return from_dtype(to_real_type(dtype_of_object(self))); });
}
PyObject* to_complex_of(PyObject* self, PyObject*) {
  return guarded([&] {
    const ScalarType t = dtype_of_object(self);
    if (is_stored(t) && !is_complex(t))
      raise(PyExc_RuntimeError, std::string("Unknown Complex ScalarType for ") + to_string(t));
    return from_dtype(to_complex_type(t));
  });
}

PyMethodDef named_methods[] = {{"__reduce__", reduce_named, METH_NOARGS, nullptr},
                               {"__copy__", same, METH_NOARGS, nullptr},
                               {"__deepcopy__", same, METH_O, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyMethodDef dtype_methods[] = {
    {"__reduce__", reduce_named, METH_NOARGS, nullptr},
    {"__copy__", same, METH_NOARGS, nullptr},
    {"__deepcopy__", same, METH_O, nullptr},
    {"to_real", to_real_of, METH_NOARGS, "The dtype of the real parts."},
    {"to_complex", to_complex_of, METH_NOARGS, "The complex dtype with such parts."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef dtype_attributes[] = {
    {"is_floating_point", is_floating_point_of, nullptr,
     "Whether it holds real floating-point numbers.", nullptr},
    {"is_complex", is_complex_of, nullptr, "Whether it holds complex numbers.", nullptr},
    {"is_signed", is_signed_of, nullptr, "Whether it holds negative numbers.", nullptr},
    {"itemsize", itemsize_of, nullptr, "Bytes of an element.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

constexpr const char* kAboutDtypes =
    R"(What the elements of a tensor of any shape are: torch.float32, torch.int64 and so on.

>>> torch.ones(2).dtype
torch.float32
>>> torch.float16.itemsize
2
>>> torch.int64.is_floating_point
False
)";
constexpr const char* kAboutLayouts =
    R"(How the elements of a tensor of any shape are kept: torch.strided, torch.sparse_coo or
torch.sparse_csr.

>>> torch.ones(2).layout
torch.strided
>>> torch.ones(2).to_sparse().layout
torch.sparse_coo
)";
constexpr const char* kAboutFormats =
    R"(The order of a dense tensor's elements in memory.

torch.contiguous_format, torch.preserve_format, torch.channels_last of shapes (N, C, H, W) and
torch.channels_last_3d of shapes (N, C, D, H, W).

>>> torch.ones(1, 2, 3, 3).to(memory_format=torch.channels_last).stride()
(18, 1, 6, 2)
)";

PyTypeObject* define_named(PyObject* module, const char* name, const char* doc,
                           PyMethodDef* methods, PyGetSetDef* attributes) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(doc)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr_named)},
                         {Py_tp_methods, methods},
                         {attributes ? Py_tp_getset : 0, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {name, sizeof(Named), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, std::string_view(name).substr(6).data(),
                                reinterpret_cast<PyObject*>(type)));
  return type;
}

PyObject* add_value(PyObject* module, PyTypeObject* type, int value, const char* name) {
  auto* self = reinterpret_cast<Named*>(checked(type->tp_alloc(type, 0)));
  self->value = value;
  self->name = name;
  checked(PyModule_AddObjectRef(module, name, reinterpret_cast<PyObject*>(self)));
  return reinterpret_cast<PyObject*>(self);
}

PyObject* new_reference(PyObject* object) {
  Py_INCREF(object);
  return object;
}

// torch.device

struct DeviceObject {
  PyObject_HEAD Device device;
};
PyTypeObject* device_type;

const Device& device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->device; }

Device parse_device(PyObject* type, PyObject* index) {
  if (index && index != Py_None) {
    const Device whole{std::string(to_text(type))};
    if (whole.has_index())
      raise(PyExc_RuntimeError,
            "type (string) must not include an index because index was passed "
            "explicitly: " +
                std::string(to_text(type)));
    const int64_t number = to_int(index);
    if (number < 0) raise(PyExc_RuntimeError, "Device index must not be negative");
    if (number != static_cast<int>(number))
      raise(PyExc_RuntimeError, "Device index must be below 128, got " + std::to_string(number));
    return Device(whole.type(), static_cast<int>(number));
  }
  return to_device(type);
}

PyObject* new_device(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"type", "index", nullptr};
    PyObject *type, *index = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type,
                                     &index))
      throw ErrorIsSet();
    if (!is_device(type))
      raise(PyExc_TypeError, std::string("device(): argument 'type' must be str or int, not ") +
                                 Py_TYPE(type)->tp_name);
    return from_device(parse_device(type, index));
  });
}

PyObject* repr_device(PyObject* self) {
  return guarded([&] { return from_text(device_of(self).repr()); });
}
PyObject* str_device(PyObject* self) {
  return guarded([&] { return from_text(device_of(self).str()); });
}
Py_hash_t hash_device(PyObject* self) {
  return static_cast<Py_hash_t>(std::hash<Device>()(device_of(self)));
}
PyObject* compare_devices(PyObject* a, PyObject* b, int operation) {
  if (Py_TYPE(b) != device_type || (operation != Py_EQ && operation != Py_NE))
    Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of(a) == device_of(b)) == (operation == Py_EQ));
}
PyObject* type_of_device(PyObject* self, void*) {
  return PyUnicode_FromString(to_string(device_of(self).type()));
}
PyObject* index_of_device(PyObject* self, void*) {
  if (!device_of(self).has_index()) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index());
}
PyObject* reduce_device(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref text(checked(str_device(self)));
    return Py_BuildValue("O(O)", device_type, text.get());
  });
}

constexpr const char* kAboutDevices =
    R"(A place for tensors: a type, and an index, which is a scalar from 0 to 127.

Types are "cpu", "cuda", "sim", "meta" and those of plug-ins. Without an index it is the current
device of the type. A number alone is the index of an accelerator. The CPU is one device, whatever
its index. RuntimeError for a type that is not known and for another index; that there is such a
device is asked when a tensor is made there.

>>> torch.device("cuda:1")
device(type='cuda', index=1)
>>> torch.device("cpu").type
'cpu'
>>> torch.ones(2, device=torch.device("cpu", 3)).device
device(type='cpu')
)";

PyMethodDef device_methods[] = {{"__reduce__", reduce_device, METH_NOARGS, nullptr},
                                {"__copy__", same, METH_NOARGS, nullptr},
                                {"__deepcopy__", same, METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyGetSetDef device_attributes[] = {
    {"type", type_of_device, nullptr, "\"cpu\", \"cuda\", \"sim\", ...", nullptr},
    {"index", index_of_device, nullptr, "The number of the device, or None for the current one.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

void add_device_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>(kAboutDevices)},
                         {Py_tp_new, reinterpret_cast<void*>(new_device)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr_device)},
                         {Py_tp_str, reinterpret_cast<void*>(str_device)},
                         {Py_tp_hash, reinterpret_cast<void*>(hash_device)},
                         {Py_tp_richcompare, reinterpret_cast<void*>(compare_devices)},
                         {Py_tp_methods, device_methods},
                         {Py_tp_getset, device_attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"torch.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, slots};
  device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  checked(PyModule_AddObjectRef(module, "device", reinterpret_cast<PyObject*>(device_type)));
}

}  // namespace

PyObject* from_dtype(ScalarType dtype) { return new_reference(dtypes[static_cast<int>(dtype)]); }
PyObject* from_layout(TensorLayout layout) {
  return new_reference(layouts[static_cast<int>(layout)]);
}

PyObject* from_device(Device device) {
  // Never freed: there are few, and comparing one with itself is the usual case.
  static std::map<std::pair<int, int>, PyObject*>& known =
      *new std::map<std::pair<int, int>, PyObject*>;
  PyObject*& object = known[{static_cast<int>(device.type()), device.index()}];
  if (!object) {
    object = checked(device_type->tp_alloc(device_type, 0));
    reinterpret_cast<DeviceObject*>(object)->device = device;
  }
  return new_reference(object);
}

bool is_dtype(PyObject* object) {
  return Py_TYPE(object) == dtype_type || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}
bool is_layout(PyObject* object) { return Py_TYPE(object) == layout_type; }
bool is_memory_format(PyObject* object) { return Py_TYPE(object) == format_type; }
bool is_device(PyObject* object) {
  return Py_TYPE(object) == device_type || PyUnicode_Check(object) || is_integer(object);
}

ScalarType to_dtype(PyObject* object) {
  if (Py_TYPE(object) == dtype_type) return dtype_of_object(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) return kComplexDouble;
  raise(PyExc_TypeError, std::string("dtype must be torch.dtype, not ") + Py_TYPE(object)->tp_name);
}

TensorLayout to_layout(PyObject* object) {
  if (!is_layout(object))
    raise(PyExc_TypeError,
          std::string("layout must be torch.layout, not ") + Py_TYPE(object)->tp_name);
  return static_cast<TensorLayout>(value_of(object));
}

MemoryFormat to_memory_format(PyObject* object) {
  if (!is_memory_format(object))
    raise(PyExc_TypeError, std::string("memory_format must be torch.memory_format, not ") +
                               Py_TYPE(object)->tp_name);
  return static_cast<MemoryFormat>(value_of(object));
}

Device to_device(PyObject* object) {
  if (Py_TYPE(object) == device_type) return device_of(object);
  if (PyUnicode_Check(object)) return Device(std::string(to_text(object)));
  return Device(to_int(object));
}

void add_kinds(PyObject* module) {
  dtype_type = define_named(module, "torch.dtype", kAboutDtypes, dtype_methods, dtype_attributes);
  layout_type = define_named(module, "torch.layout", kAboutLayouts, named_methods, nullptr);
  format_type = define_named(module, "torch.memory_format", kAboutFormats, named_methods, nullptr);
  const auto add_dtype = [&](ScalarType t) {
    dtypes[static_cast<int>(t)] = add_value(module, dtype_type, static_cast<int>(t), dtype_name(t));
  };
  std::ranges::for_each(kAllDtypes, add_dtype);
  std::ranges::for_each(kStoredDtypes, add_dtype);
  for (const auto& [second, t] : {std::pair{"float", kFloat},
                                  {"double", kDouble},
                                  {"half", kHalf},
                                  {"short", kShort},
                                  {"int", kInt},
                                  {"long", kLong},
                                  {"chalf", kComplexHalf},
                                  {"cfloat", kComplexFloat},
                                  {"cdouble", kComplexDouble}})
    checked(PyModule_AddObjectRef(module, second, dtypes[static_cast<int>(t)]));
  layouts[0] = add_value(module, layout_type, 0, "strided");
  layouts[1] = add_value(module, layout_type, 1, "sparse_coo");
  layouts[2] = add_value(module, layout_type, 2, "sparse_csr");
  const char* names[] = {"contiguous_format", "preserve_format", "channels_last",
                         "channels_last_3d"};
  for (int i = 0; i < 4; ++i) add_value(module, format_type, i, names[i]);
  add_device_type(module);
  add_generator_type(module);
}

}  // namespace taeda::python
