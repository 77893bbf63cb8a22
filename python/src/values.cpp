#include "values.h"

#include <complex>

#include "overrides.h"
#include "signature_error.h"
#include "taeda/base/error.h"

namespace taeda::python {

namespace {

bool has_index(PyObject* object) {
  const PyNumberMethods* numbers = Py_TYPE(object)->tp_as_number;
  return numbers && numbers->nb_index;
}
bool has_float(PyObject* object) {
  const PyNumberMethods* numbers = Py_TYPE(object)->tp_as_number;
  return numbers && numbers->nb_float;
}
// NumPy's numbers are known by their class's name, so that NumPy need not be there.
bool is_numpy(PyObject* object, const char* name) {
  const std::string_view type = Py_TYPE(object)->tp_name;
  return type.starts_with("numpy.") && type.substr(6).starts_with(name);
}
bool is_array(PyObject* object) { return is_numpy(object, "ndarray"); }

/// A tensor of one element is its element.
bool is_single(PyObject* object) {
  return is_tensor(object) && tensor_of(object).defined() && tensor_of(object).dim() == 0;
}

[[noreturn]] void wrong(const char* expected, PyObject* got) {
  raise(PyExc_TypeError, std::string("expected ") + expected + ", got " + Py_TYPE(got)->tp_name);
}

template <class T, class F>
std::vector<T> to_list(PyObject* object, F&& convert) {
  std::vector<T> out;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  out.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) out.push_back(convert(PySequence_Fast_GET_ITEM(object, i)));
  return out;
}

}  // namespace

bool is_bool(PyObject* object) { return PyBool_Check(object) || is_numpy(object, "bool"); }

bool is_integer(PyObject* object) {
  if (PyLong_CheckExact(object)) return true;
  return !is_bool(object) && !is_tensor(object) && !is_array(object) && has_index(object) &&
         !has_override(object);
}

bool is_size(PyObject* object) {
  if (PyLong_CheckExact(object)) return true;
  return is_integer(object) || (is_single(object) && is_integral(tensor_of(object).dtype()));
}

bool is_real(PyObject* object) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return true;
  if (is_tensor(object) || is_array(object) || PyUnicode_Check(object)) return false;
  return PyBool_Check(object) ||
         ((has_index(object) || has_float(object)) && !has_override(object));
}

bool is_number(PyObject* object) { return is_real(object) || PyComplex_Check(object); }

int64_t to_int(PyObject* object) {
  if (!PyLong_Check(object)) {
    Ref index(checked(PyNumber_Index(object)));
    return to_int(index.get());
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) raise(PyExc_ValueError, "Overflow when unpacking long long");
  if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
  return value;
}

double to_real(PyObject* object) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
  return value;
}

bool to_bool(PyObject* object) {
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  const int value = PyObject_IsTrue(object);
  checked(value);
  return value != 0;
}

namespace {

Scalar whole_scalar(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return Scalar(int64_t{value});
  const unsigned long long wide = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) throw ErrorIsSet();
  return Scalar(uint64_t{wide});
}

}  // namespace

Scalar to_scalar(PyObject* object) {
  if (PyFloat_CheckExact(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (is_bool(object)) return Scalar(to_bool(object));
  if (PyLong_Check(object)) return whole_scalar(object);
  if (is_tensor(object)) {
    ReleaseGil released;
    return tensor_of(object).item();
  }
  if (PyComplex_Check(object))
    return Scalar(
        std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  throw_if_overridden(object);
  if (has_index(object)) return Scalar(to_int(object));
  if (has_float(object)) return Scalar(to_real(object));
  wrong("a number", object);
}

std::string_view to_text(PyObject* object) {
  Py_ssize_t n = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &n);
  if (!text) throw ErrorIsSet();
  return {text, static_cast<size_t>(n)};
}

Ints to_ints(PyObject* object) {
  Ints out;
  if (object == Py_None) return out;
  if (!is_sequence(object)) {
    out.push_back(to_int(object));
    return out;
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (!is_size(item)) {
      throw_if_overridden(item);
      PyErr_Format(PyExc_TypeError,
                   "must be tuple of ints, but found element of type %s at pos %zd",
                   Py_TYPE(item)->tp_name, i);
      throw WrongElement{{}, object, i};
    }
    out.push_back(to_int(item));
  }
  return out;
}

std::vector<double> to_reals(PyObject* object) { return to_list<double>(object, to_real); }
std::vector<Scalar> to_scalars(PyObject* object) {
  if (!is_sequence(object)) return {to_scalar(object)};
  return to_list<Scalar>(object, to_scalar);
}

const Tensor& to_tensor(PyObject* object) {
  static const Tensor undefined;
  if (object == Py_None) return undefined;
  if (!is_tensor(object)) wrong("a Tensor", object);
  return tensor_of(object);
}

std::vector<Tensor> to_tensors(PyObject* object) {
  if (is_tensor(object)) {
    // Its rows, as iteration gives them.
    const Tensor& t = tensor_of(object);
    return t.unbind(0);
  }
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(object);
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (!is_tensor(item)) {
      throw_if_overridden(item);
      raise(PyExc_TypeError, "expected Tensor as element " + std::to_string(i) +
                                 " in argument 0, but got " + Py_TYPE(item)->tp_name);
    }
    out.push_back(tensor_of(item));
  }
  return out;
}

PyObject* from_scalar(const Scalar& value) {
  if (value.is_boolean()) return PyBool_FromLong(value.cast<bool>());
  if (value.type() == kUInt64) return PyLong_FromUnsignedLongLong(value.cast<uint64_t>());
  if (value.is_integral()) return PyLong_FromLongLong(value.cast<int64_t>());
  if (value.is_complex()) {
    const auto z = value.cast<std::complex<double>>();
    return PyComplex_FromDoubles(z.real(), z.imag());
  }
  return PyFloat_FromDouble(value.cast<double>());
}

PyObject* from_text(std::string_view text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* from_ints(IntArrayRef values) {
  Ref out(checked(PyTuple_New(static_cast<Py_ssize_t>(values.size()))));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i),
                     checked(PyLong_FromLongLong(values[i])));
  return out.release();
}

PyObject* from_tensors(std::vector<Tensor> tensors) {
  Ref out(checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size()))));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), wrap(std::move(tensors[i])));
  return out.release();
}

}  // namespace taeda::python
