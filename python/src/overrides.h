// __torch_function__: how subclasses of Tensor, and objects that are no tensors, answer calls in
// the place of operations.
//
// Note [Overrides cost nothing]
// A tensor of exactly the class of results, and a Parameter, are never asked: `is_plain` is one
// comparison, which entry points made before there were overrides, too. What fails it is looked at
// here, once for a call. While a mode is on (taeda/overrides), which answers calls of plain
// tensors, too, no class counts as plain.
#pragma once

#include <vector>

#include "python.h"

namespace taeda::python {

/// The class of results and nn.Parameter; nullptr while a mode is on.
extern PyTypeObject *plain_type, *plain_parameter_type;

/// Whether nobody answers calls for the object, as one comparison or two tell.
inline bool is_plain(PyObject* object) { return Py_TYPE(object) == plain_type; }
inline bool is_plain_or_parameter(PyObject* object) {
  return is_plain(object) || Py_TYPE(object) == plain_parameter_type;
}

/// Whether it is plain, a parameter, or a number of Python's own.
inline bool is_inert(PyObject* object) {
  return is_plain(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
         Py_TYPE(object) == plain_parameter_type;
}

/// Whether the object's class has a `__torch_function__` of its own and this thread heeds it.
bool has_override(PyObject* object);

/// Thrown with a TypeError set where a conversion meets an object with an override: `call` asks it,
/// others report the error.
struct Overridden : ErrorIsSet {};
/// Throws Overridden if the object has an override.
void throw_if_overridden(PyObject* object);

/// Those who may answer a call, in the order in which they are asked: the mode of this thread, then
/// objects from left to right, with those of a derived class before those of its bases.
class Overrides {
 public:
  /// Takes the object in, or what a list, tuple or slice holds.
  void add(PyObject* object);
  void add(PyObject* const* objects, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; ++i) add(objects[i]);
  }
  /// Whether there is anybody to ask.
  bool any() const;
  /// What the first who answers gives; NotImplemented if nobody does. Throws ErrorIsSet.
  PyObject* ask(PyObject* function, PyObject* args, PyObject* kwargs) const;
  /// The same with a TypeError if nobody answers.
  PyObject* must_answer(PyObject* function, PyObject* args, PyObject* kwargs) const;

 private:
  bool add_one(PyObject* object);
  void add_slice(PyObject* object);
  std::vector<PyObject*> objects_;  // borrowed
};

// What overrides give for a call, a new reference; nullptr where there are none. Throw ErrorIsSet.

/// An operation of the extension: a method of `self`, or a function if that is nullptr.
PyObject* overridden_call(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t count,
                          PyObject* names);
/// The method `name` of Tensor. With `may_decline` NotImplemented is an answer, else a TypeError.
PyObject* overridden_method(const char* name, std::initializer_list<PyObject*> args,
                            bool may_decline = false);
/// The getter of an attribute, or its setter if there is a value.
PyObject* overridden_attribute(const char* name, PyObject* self, PyObject* value = nullptr);

/// What was answered, where somebody must have: a TypeError if nobody was found.
PyObject* answered(PyObject* made);

/// Has Python's functions look for overrides, too, once there is a class that has one
/// (taeda/overrides/replaced.py).
void note_class(PyTypeObject* type);

/// Sets the classes that count as plain.
void set_plain_types(PyTypeObject* tensor, PyTypeObject* parameter);

/// Adds guards, modes' stack and what taeda/overrides is made of.
void add_overrides(PyObject* module);

}  // namespace taeda::python
