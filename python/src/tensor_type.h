// Python's Tensor: one object for each tensor, found again whenever the tensor comes back.
//
// Note [Who owns whom]
// Usually the object owns the tensor, and the tensor knows the object (tensor/wrapper.h). When the
// object's last reference goes while the library still holds the tensor, and the object has what
// would be missed - attributes, weak references, a class of its own - the two change places: the
// tensor owns the object, which then refers to it without counting, until it comes back to Python
// or ends. An object that nobody would miss simply goes, and another one is made when the tensor
// comes back.
#pragma once

#include "python.h"
#include "taeda/tensor/tensor.h"

namespace taeda::python {

/// The object of a tensor.
struct TensorObject {
  PyObject_HEAD
      /// Empty while the tensor owns the object.
      Tensor tensor;
  PyObject* attributes;
  PyObject* weak_references;
  /// Hooks on the gradient by number (an ordered dict), which its C++ hook refers to, too.
  PyObject* hooks;
};

/// The class that the extension defines; `torch.Tensor` derives from it.
extern PyTypeObject* tensor_base_type;
/// The class that results have: torch.Tensor.
extern PyTypeObject* tensor_type;

/// Whether it is a tensor of any class.
inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_base_type);
}
/// The tensor of an object that is one. Throws Error for one whose tensor has ended.
inline const Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}

/// A new reference to the tensor's object; None for an undefined tensor.
PyObject* wrap(Tensor tensor);
/// A new object of class `type` for a tensor that has none yet.
PyObject* wrap_as(PyTypeObject* type, Tensor tensor);

/// Defines the class and adds it to the extension as TensorBase, and what sets the class that
/// results have.
void add_tensor_type(PyObject* module);

}  // namespace taeda::python
