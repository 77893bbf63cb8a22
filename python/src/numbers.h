// Operators of Tensor.
#pragma once

#include "python.h"

namespace taeda::python {

PyObject* compare_tensors(PyObject* a, PyObject* b, int operation);

PyObject* add(PyObject*, PyObject*);
PyObject* subtract(PyObject*, PyObject*);
PyObject* multiply(PyObject*, PyObject*);
PyObject* divide(PyObject*, PyObject*);
PyObject* floor_divide(PyObject*, PyObject*);
PyObject* remainder(PyObject*, PyObject*);
PyObject* power(PyObject*, PyObject*, PyObject*);
PyObject* matrix_multiply(PyObject*, PyObject*);
PyObject* bit_and(PyObject*, PyObject*);
PyObject* bit_or(PyObject*, PyObject*);
PyObject* bit_xor(PyObject*, PyObject*);
PyObject* shift_left(PyObject*, PyObject*);
PyObject* shift_right(PyObject*, PyObject*);
PyObject* in_place_add(PyObject*, PyObject*);
PyObject* in_place_subtract(PyObject*, PyObject*);
PyObject* in_place_multiply(PyObject*, PyObject*);
PyObject* in_place_divide(PyObject*, PyObject*);
PyObject* in_place_floor_divide(PyObject*, PyObject*);
PyObject* in_place_remainder(PyObject*, PyObject*);
PyObject* in_place_power(PyObject*, PyObject*, PyObject*);
PyObject* in_place_and(PyObject*, PyObject*);
PyObject* in_place_or(PyObject*, PyObject*);
PyObject* in_place_xor(PyObject*, PyObject*);
PyObject* in_place_shift_left(PyObject*, PyObject*);
PyObject* in_place_shift_right(PyObject*, PyObject*);
PyObject* negative(PyObject*);
PyObject* positive(PyObject*);
PyObject* absolute(PyObject*);
PyObject* invert(PyObject*);
int truth(PyObject*);
PyObject* as_int(PyObject*);
PyObject* as_float(PyObject*);
PyObject* as_index(PyObject*);

#define TAEDA_SLOT(slot, function) \
  { slot, reinterpret_cast<void*>(function) }
#define TAEDA_NUMBER_SLOTS                                                                    \
  TAEDA_SLOT(Py_nb_add, add), TAEDA_SLOT(Py_nb_subtract, subtract),                           \
      TAEDA_SLOT(Py_nb_multiply, multiply), TAEDA_SLOT(Py_nb_true_divide, divide),            \
      TAEDA_SLOT(Py_nb_floor_divide, floor_divide), TAEDA_SLOT(Py_nb_remainder, remainder),   \
      TAEDA_SLOT(Py_nb_power, power), TAEDA_SLOT(Py_nb_matrix_multiply, matrix_multiply),     \
      TAEDA_SLOT(Py_nb_and, bit_and), TAEDA_SLOT(Py_nb_or, bit_or),                           \
      TAEDA_SLOT(Py_nb_xor, bit_xor), TAEDA_SLOT(Py_nb_lshift, shift_left),                   \
      TAEDA_SLOT(Py_nb_rshift, shift_right), TAEDA_SLOT(Py_nb_inplace_add, in_place_add),     \
      TAEDA_SLOT(Py_nb_inplace_subtract, in_place_subtract),                                  \
      TAEDA_SLOT(Py_nb_inplace_multiply, in_place_multiply),                                  \
      TAEDA_SLOT(Py_nb_inplace_true_divide, in_place_divide),                                 \
      TAEDA_SLOT(Py_nb_inplace_floor_divide, in_place_floor_divide),                          \
      TAEDA_SLOT(Py_nb_inplace_remainder, in_place_remainder),                                \
      TAEDA_SLOT(Py_nb_inplace_power, in_place_power),                                        \
      TAEDA_SLOT(Py_nb_inplace_and, in_place_and), TAEDA_SLOT(Py_nb_inplace_or, in_place_or), \
      TAEDA_SLOT(Py_nb_inplace_xor, in_place_xor),                                            \
      TAEDA_SLOT(Py_nb_inplace_lshift, in_place_shift_left),                                  \
      TAEDA_SLOT(Py_nb_inplace_rshift, in_place_shift_right),                                 \
      TAEDA_SLOT(Py_nb_negative, negative), TAEDA_SLOT(Py_nb_positive, positive),             \
      TAEDA_SLOT(Py_nb_absolute, absolute), TAEDA_SLOT(Py_nb_invert, invert),                 \
      TAEDA_SLOT(Py_nb_bool, truth), TAEDA_SLOT(Py_nb_int, as_int),                           \
      TAEDA_SLOT(Py_nb_float, as_float), TAEDA_SLOT(Py_nb_index, as_index)

/// A number has no history: says so once where a tensor with one becomes a number unasked.
void warn_of_lost_history(const Tensor& t);

}  // namespace taeda::python
