// Python's values as C++ ones, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "python.h"
#include "taeda/base/scalar.h"
#include "taeda/base/small_vector.h"
#include "taeda/device/generator.h"
#include "taeda/tensor/indexing.h"
#include "tensor_type.h"

namespace taeda::python {

/// Sizes, strides and the like, kept while a call lasts.
class Ints {
 public:
  Ints() = default;
  Ints(std::initializer_list<int64_t> values) {
    for (const int64_t value : values) values_.push_back(value);
  }
  Ints(int64_t value) { values_.push_back(value); }
  void push_back(int64_t value) { values_.push_back(value); }
  operator IntArrayRef() const { return IntArrayRef(values_.data(), values_.size()); }
  size_t size() const { return values_.size(); }

 private:
  SmallVector<int64_t, 6> values_;
};

// What an argument may be, told quickly and without setting errors.

/// int, or NumPy's integers: what has `__index__` and is no bool, no tensor.
bool is_integer(PyObject* object);
/// Any number: int, float, bool, complex, NumPy's.
bool is_number(PyObject* object);
/// A number that is real.
bool is_real(PyObject* object);
bool is_bool(PyObject* object);
/// A list or tuple; its elements are looked at by the conversion.
inline bool is_sequence(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }
/// A list or tuple whose first element satisfies `element`, or an empty one.
template <class F>
bool is_sequence_of(PyObject* object, F element) {
  return is_sequence(object) &&
         (PySequence_Fast_GET_SIZE(object) == 0 || element(PySequence_Fast_GET_ITEM(object, 0)));
}
/// An integer, or a tensor of one integer, as an element of a list of sizes.
bool is_size(PyObject* object);

// The conversions throw ErrorIsSet, with the error set, for what cannot be converted.

int64_t to_int(PyObject* object);
double to_real(PyObject* object);
bool to_bool(PyObject* object);
Scalar to_scalar(PyObject* object);
std::string_view to_text(PyObject* object);
/// One integer or a sequence of them.
Ints to_ints(PyObject* object);
std::vector<double> to_reals(PyObject* object);
std::vector<Scalar> to_scalars(PyObject* object);
std::vector<Tensor> to_tensors(PyObject* object);
/// A tensor, or an undefined one for None.
const Tensor& to_tensor(PyObject* object);

PyObject* from_scalar(const Scalar& value);
PyObject* from_text(std::string_view text);
/// A torch.Size.
PyObject* from_sizes(IntArrayRef sizes);
/// A tuple of ints.
PyObject* from_ints(IntArrayRef values);
/// A tuple of tensors.
PyObject* from_tensors(std::vector<Tensor> tensors);

/// Defines torch.Size and adds it to the extension.
void add_size_type(PyObject* module);
extern PyTypeObject* size_type;

}  // namespace taeda::python
