// What the bindings that pybind11 makes share: how it passes the package's own types.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "kinds.h"
#include "python.h"
#include "tensor_type.h"
#include "values.h"

namespace pybind11::detail {

template <>
struct type_caster<taeda::Tensor> {
  PYBIND11_TYPE_CASTER(taeda::Tensor, const_name("torch.Tensor"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!taeda::python::is_tensor(source.ptr())) return false;
    value = taeda::python::tensor_of(source.ptr());
    return true;
  }
  static handle cast(taeda::Tensor t, return_value_policy, handle) {
    return taeda::python::wrap(std::move(t));
  }
};

template <>
struct type_caster<taeda::Device> {
  PYBIND11_TYPE_CASTER(taeda::Device, const_name("torch.device"));
  bool load(handle source, bool) {
    if (!taeda::python::is_device(source.ptr())) return false;
    value = taeda::python::to_device(source.ptr());
    return true;
  }
  static handle cast(taeda::Device d, return_value_policy, handle) {
    return taeda::python::from_device(d);
  }
};

template <>
struct type_caster<taeda::ScalarType> {
  PYBIND11_TYPE_CASTER(taeda::ScalarType, const_name("torch.dtype"));
  bool load(handle source, bool) {
    if (!taeda::python::is_dtype(source.ptr())) return false;
    value = taeda::python::to_dtype(source.ptr());
    return true;
  }
  static handle cast(taeda::ScalarType t, return_value_policy, handle) {
    return taeda::python::from_dtype(t);
  }
};

template <>
struct type_caster<taeda::Scalar> {
  PYBIND11_TYPE_CASTER(taeda::Scalar, const_name("Number"));
  bool load(handle source, bool) {
    if (!taeda::python::is_number(source.ptr())) return false;
    value = taeda::python::to_scalar(source.ptr());
    return true;
  }
  static handle cast(const taeda::Scalar& s, return_value_policy, handle) {
    return taeda::python::from_scalar(s);
  }
};

}  // namespace pybind11::detail

namespace taeda::python {

namespace py = pybind11;

/// Has the library's errors become Python's in functions that pybind11 calls.
void translate_errors();

/// The extension as pybind11 sees it.
inline py::module_ as_module(PyObject* module) {
  return py::reinterpret_borrow<py::module_>(module);
}

}  // namespace taeda::python
