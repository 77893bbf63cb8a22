#include "data.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kinds.h"
#include "memory_view.h"
#include "numbers.h"
#include "taeda/taeda.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

/// range, deque and others that have a length and items become lists.
Ref as_sequence(PyObject* data) {
  if (is_sequence(data) || is_tensor(data) || is_array_like(data) || is_number(data) ||
      PyUnicode_Check(data) || !PySequence_Check(data))
    return Ref::borrow(data);
  return Ref(checked(PySequence_List(data)));
}

/// Sizes of nested sequences, from their first elements. A tensor among them is one number.
DimVector sizes_of(PyObject* data) {
  DimVector sizes;
  Ref at = as_sequence(data);
  while (is_sequence(at.get())) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(at.get());
    sizes.push_back(n);
    if (n == 0) break;
    if (sizes.size() > 128)
      raise(PyExc_ValueError, "too many dimensions '" + std::string(Py_TYPE(data)->tp_name) + "'");
    at = as_sequence(PySequence_Fast_GET_ITEM(at.get(), 0));
  }
  if (is_array_like(at.get()))
    for (const int64_t size : tensor_over(at.get()).sizes()) sizes.push_back(size);
  return sizes;
}

[[noreturn]] void too_deep(PyObject* data) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(data); ++i)
    if (PySequence_Fast_GET_ITEM(data, i) == data)
      raise(PyExc_TypeError, "new(): self-referential lists are incompatible");
  raise(PyExc_TypeError,
        "not a sequence of numbers: found '" + std::string(Py_TYPE(data)->tp_name) + "'");
}

/// The dtype of one number.
ScalarType dtype_of_number(PyObject* o) {
  if (is_tensor(o)) return tensor_of(o).dtype();
  if (is_bool(o)) return kBool;
  if (PyFloat_Check(o))
    return std::string_view(Py_TYPE(o)->tp_name) == "numpy.float64" ? kDouble : get_default_dtype();
  if (PyComplex_Check(o)) return to_complex_type(get_default_dtype());
  if (PyLong_Check(o)) return kLong;
  if (is_array_like(o)) return tensor_over(o).dtype();
  if (is_integer(o)) return kLong;
  if (is_real(o)) return get_default_dtype();
  if (PyUnicode_Check(o)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
  raise(PyExc_RuntimeError, "Could not infer dtype of " + std::string(Py_TYPE(o)->tp_name));
}

/// The dtype that holds all numbers of sequences nested `depth` deep, and no deeper: a list that
/// contains itself has no end.
ScalarType inferred_dtype(PyObject* given, size_t depth) {
  if (depth == 0) {
    if (is_sequence(given)) too_deep(given);
    return dtype_of_number(given);
  }
  const Ref data = as_sequence(given);
  if (!is_sequence(data.get())) return dtype_of_number(data.get());
  if (PySequence_Fast_GET_SIZE(data.get()) == 0) return get_default_dtype();
  ScalarType out = ScalarType::Undefined;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(data.get()); ++i) {
    const ScalarType t = inferred_dtype(PySequence_Fast_GET_ITEM(data.get(), i), depth - 1);
    out = out == ScalarType::Undefined ? t : promote_types(out, t);
  }
  return out;
}

[[noreturn]] void unequal(int64_t expected, int64_t got, size_t dim) {
  raise(PyExc_ValueError, "expected sequence of length " + std::to_string(expected) + " at dim " +
                              std::to_string(dim) + " (got " + std::to_string(got) + ")");
}

template <class T>
void store(PyObject* o, void*& at) {
  T value;
  // Beyond a floating-point dtype's range is infinity, as when a tensor is converted.
  if constexpr (!std::is_same_v<T, complex<float>> && !std::is_same_v<T, complex<double>> &&
                !std::is_same_v<T, bool>)
    if (PyComplex_Check(o)) raise(PyExc_TypeError, "must be real number, not complex");
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> ||
                std::is_same_v<T, BFloat16>)
    value = static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(
        PyFloat_CheckExact(o) ? PyFloat_AS_DOUBLE(o)
        : PyLong_Check(o)     ? to_real(o)
                              : to_scalar(o).template cast<double>()));
  else if constexpr (std::is_same_v<T, int64_t>)
    value = PyLong_CheckExact(o) ? to_int(o) : to_scalar(o).template to<int64_t>();
  else if constexpr (std::is_same_v<T, complex<float>>)
    value = to_scalar(o).template cast<T>();
  else
    value = to_scalar(o).template to<T>();
  std::memcpy(at, &value, sizeof(T));
  at = static_cast<char*>(at) + sizeof(T);
}

/// An unsigned integer of more than 8 bits.
template <class T>
void store_unsigned(PyObject* o, void*& at) {
  T stored;
  if constexpr (sizeof(T) == 8) {
    if (!PyIndex_Check(o)) raise(PyExc_TypeError, "an integer is required");
    const Ref whole(checked(PyNumber_Index(o)));
    stored = PyLong_AsUnsignedLongLong(whole.get());
    if (PyErr_Occurred()) throw ErrorIsSet();
  } else {
    stored = to_scalar(o).template to<T>();
  }
  std::memcpy(at, &stored, sizeof(T));
  at = static_cast<char*>(at) + sizeof(T);
}

using Store = void (*)(PyObject*, void*&);

Store store_for(ScalarType dtype) {
  switch (dtype) {
    case kByte: return store<uint8_t>;
    case kChar: return store<int8_t>;
    case kShort: return store<int16_t>;
    case kInt: return store<int32_t>;
    case kLong: return store<int64_t>;
    case kHalf: return store<Half>;
    case kFloat: return store<float>;
    case kDouble: return store<double>;
    case kComplexFloat: return store<complex<float>>;
    case kComplexDouble: return store<complex<double>>;
    case kBool: return store<bool>;
    case kBFloat16: return store<BFloat16>;
    case kUInt16: return store_unsigned<uint16_t>;
    case kUInt32: return store_unsigned<uint32_t>;
    case kUInt64: return store_unsigned<uint64_t>;
    default: raise(PyExc_TypeError, "no such dtype");
  }
}

/// Writes a tensor or an array that stands where nested sequences of these sizes are expected.
/// Further dimensions must hold one number.
void fill_from(const Tensor& given, IntArrayRef rest, size_t depth, ScalarType dtype, void*& at) {
  const IntArrayRef sizes = given.sizes();
  for (size_t i = 0; i < std::min(rest.size(), sizes.size()); ++i)
    if (sizes[i] != rest[i]) unequal(rest[i], sizes[i], depth + i);
  if (sizes.size() < rest.size()) raise(PyExc_TypeError, "not a sequence");
  if (given.numel() != product(rest))
    raise(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  const Tensor t = given.to(Device(kCPU), dtype).contiguous();
  std::memcpy(at, t.data_ptr(), static_cast<size_t>(t.nbytes()));
  at = static_cast<char*>(at) + t.nbytes();
}

/// Writes the numbers of nested sequences one after the other.
void fill(PyObject* given, IntArrayRef sizes, size_t depth, Store write, ScalarType dtype,
          void*& at) {
  const bool is_leaf = depth == sizes.size();
  if (is_leaf && (PyFloat_CheckExact(given) || PyLong_CheckExact(given))) return write(given, at);
  // A number's conversion may run code that changes the lists: what is read here is held.
  const Ref data = is_leaf ? Ref::borrow(given) : as_sequence(given);
  const IntArrayRef rest(sizes.data() + depth, sizes.size() - depth);
  if (is_tensor(data.get())) {
    warn_of_lost_history(tensor_of(data.get()));
    return fill_from(tensor_of(data.get()).detach(), rest, depth, dtype, at);
  }
  if (is_leaf) {
    if (is_sequence(data.get())) too_deep(data.get());
    if (PyUnicode_Check(data.get()))
      raise(PyExc_TypeError, "not a sequence of numbers: found 'str'");
    return write(data.get(), at);
  }
  if (is_array_like(data.get())) {
    if (depth > 0)
      TAEDA_WARN_ONCE(
          "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider "
          "converting the list to a single numpy.ndarray with numpy.array() before converting to a "
          "tensor.");
    return fill_from(tensor_over(data.get()), rest, depth, dtype, at);
  }
  if (!is_sequence(data.get())) raise(PyExc_TypeError, "not a sequence");
  for (Py_ssize_t i = 0; i <= rest[0]; ++i) {
    if (const Py_ssize_t n = PySequence_Fast_GET_SIZE(data.get()); n != rest[0])
      unequal(rest[0], n, depth);
    if (i < rest[0])
      fill(PySequence_Fast_GET_ITEM(data.get(), i), sizes, depth + 1, write, dtype, at);
  }
}

template <class T>
PyObject* number(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return from_scalar(Scalar(value));
}

PyObject* number_at(ScalarType dtype, const void* at) {
  switch (dtype) {
    case kByte: return number<uint8_t>(at);
    case kChar: return number<int8_t>(at);
    case kShort: return number<int16_t>(at);
    case kInt: return number<int32_t>(at);
    case kLong: return number<int64_t>(at);
    case kHalf: return number<Half>(at);
    case kFloat: return number<float>(at);
    case kDouble: return number<double>(at);
    case kComplexFloat: return number<complex<float>>(at);
    case kComplexDouble: return number<complex<double>>(at);
    case kBool: return PyBool_FromLong(*static_cast<const uint8_t*>(at) != 0);
    case kUInt64: {
      uint64_t value;
      std::memcpy(&value, at, sizeof(value));
      return PyLong_FromUnsignedLongLong(value);
    }
    default: return number<BFloat16>(at);
  }
}

PyObject* lists_of(const Tensor& t, int64_t dim, const char* at) {
  if (dim == t.dim()) return number_at(t.dtype(), at);
  const int64_t n = t.size(dim), step = t.stride(dim) * t.element_size();
  Ref out(checked(PyList_New(n)));
  for (int64_t i = 0; i < n; ++i)
    PyList_SET_ITEM(out.get(), i, checked(lists_of(t, dim + 1, at + i * step)));
  return out.release();
}

}  // namespace

bool is_array_like(PyObject* object) {
  if (is_sequence(object) || is_tensor(object) || PyBytes_Check(object) ||
      PyByteArray_Check(object))
    return false;
  const auto named = [](PyTypeObject* type, std::string_view words) {
    return std::string_view(type->tp_name).starts_with(words);
  };
  PyTypeObject* type = Py_TYPE(object);
  if (named(type, "memoryview") || named(type, "array.array")) return true;
  // A class that Python code derives (numpy.memmap) has a name without its module.
  while (type && !named(type, "numpy.")) type = type->tp_base;
  return type && PyObject_CheckBuffer(object);
}

Tensor tensor_from(PyObject* given, std::optional<ScalarType> dtype, std::optional<Device> device) {
  const Ref data = as_sequence(given);
  const auto placed = [&](Tensor t) { return device ? t.to(*device) : t; };
  if (is_tensor(data.get())) {
    const Tensor& t = tensor_of(data.get());
    return t.detach().to(device.value_or(t.device()), dtype.value_or(t.dtype()), false, true);
  }
  if (is_array_like(data.get())) {
    const Tensor t = tensor_over(data.get());
    return placed(t.to(Device(kCPU), dtype.value_or(t.dtype()), false, true));
  }
  const DimVector sizes = sizes_of(data.get());
  const ScalarType type = dtype ? *dtype : inferred_dtype(data.get(), sizes.size());
  if (is_stored(type) && !is_wide_unsigned(type))
    return placed(tensor_from(data.get(), computing_dtype(type), Device(kCPU)).to(type));
  Tensor out = empty(sizes, type);
  void* at = out.data_ptr();
  if (out.numel()) fill(data.get(), sizes, 0, store_for(type), type, at);
  return placed(std::move(out));
}

PyObject* to_lists(const Tensor& t) {
  Tensor host;
  {
    const ReleaseGil released(!t.is_cpu());
    host = t.detach().cpu();
    if (is_stored(host.dtype())) host = host.to(computing_dtype(host.dtype()));
  }
  return lists_of(host, 0, static_cast<const char*>(host.data_ptr()));
}

namespace {

PyObject* tensor_from_function(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 3) raise(PyExc_TypeError, "_tensor_from takes data, dtype and device");
    return wrap(tensor_from(args[0],
                            args[1] == Py_None ? std::nullopt : std::optional(to_dtype(args[1])),
                            args[2] == Py_None ? std::nullopt : std::optional(to_device(args[2]))));
  });
}
PyObject* tensor_over_function(PyObject*, PyObject* array) {
  return guarded([&] { return wrap(tensor_over(array, true)); });
}

PyMethodDef functions[] = {
    {"_tensor_from", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(tensor_from_function)),
     METH_FASTCALL, "A new tensor: data, dtype or None, device or None."},
    {"from_numpy", tensor_over_function, METH_O, "A tensor over the memory of an array."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_data(PyObject* module) {
  add_memory_view_type(module);
  checked(PyModule_AddFunctions(module, functions));
}

}  // namespace taeda::python
