// Tensors from Python's data and NumPy's arrays, and back.
#pragma once

#include <optional>

#include "python.h"
#include "taeda/tensor/tensor.h"

namespace taeda::python {

/// Whether it is no sequence of Python's but has a buffer or `__array__`, as NumPy's arrays and
/// numbers.
bool is_array_like(PyObject* object);

/// A new tensor with the values of nested sequences of numbers, of an array, or of a tensor;
/// without a dtype the one that PyTorch infers. Throws ErrorIsSet for sequences of unequal lengths
/// and for what holds no numbers.
Tensor tensor_from(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device);
/// A tensor over the memory of an array. Throws ErrorIsSet for dtypes that tensors cannot have and
/// for negative strides.
Tensor tensor_over(PyObject* array, bool to_write = false);
/// An array of NumPy over the tensor's memory.
PyObject* array_over(const Tensor& t);
/// Nested lists of numbers; a number for a tensor without dimensions.
PyObject* to_lists(const Tensor& t);

/// Defines the functions `_tensor_from`, `_tensor_over` and others of the extension.
void add_data(PyObject* module);

}  // namespace taeda::python
