#include "numbers.h"

#include "data.h"
#include "taeda/taeda.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

constexpr int64_t kHeavy = int64_t{1} << 15;

bool is_heavy(const Tensor& t) { return t.numel() >= kHeavy || !t.is_cpu(); }
bool is_operand(PyObject* o) { return is_tensor(o) || is_number(o); }

// One of two operands is a tensor, the other a tensor or a number. Something else may know what to
// do with a tensor.
template <class TT, class TS, class ST>
PyObject* operate(PyObject* a, PyObject* b, TT&& both, TS&& right_number, ST&& left_number) {
  return guarded([&]() -> PyObject* {
    if (is_tensor(a)) {
      const Tensor& x = tensor_of(a);
      if (is_tensor(b)) {
        const Tensor& y = tensor_of(b);
        Tensor out;
        {
          const ReleaseGil released(is_heavy(x) || is_heavy(y));
          out = both(x, y);
        }
        return wrap(std::move(out));
      }
      if (!is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
      const Scalar y = to_scalar(b);
      Tensor out;
      {
        const ReleaseGil released(is_heavy(x));
        out = right_number(x, y);
      }
      return wrap(std::move(out));
    }
    if (!is_operand(a)) Py_RETURN_NOTIMPLEMENTED;
    const Scalar x = to_scalar(a);
    const Tensor& y = tensor_of(b);
    Tensor out;
    {
      const ReleaseGil released(is_heavy(y));
      out = left_number(x, y);
    }
    return wrap(std::move(out));
  });
}

// The result is the tensor on the left.
template <class TT, class TS>
PyObject* change(PyObject* a, PyObject* b, TT&& tensor, TS&& number) {
  return guarded([&]() -> PyObject* {
    const Tensor& x = tensor_of(a);
    if (is_tensor(b)) {
      const ReleaseGil released(is_heavy(x));
      tensor(x, tensor_of(b));
    } else if (is_operand(b)) {
      const Scalar y = to_scalar(b);
      const ReleaseGil released(is_heavy(x));
      number(x, y);
    } else {
      Py_RETURN_NOTIMPLEMENTED;
    }
    Py_INCREF(a);
    return a;
  });
}

template <class F>
PyObject* unary(PyObject* self, F&& f) {
  return guarded([&]() -> PyObject* {
    Tensor out;
    {
      const ReleaseGil released(is_heavy(tensor_of(self)));
      out = f(tensor_of(self));
    }
    return wrap(std::move(out));
  });
}

/// A number as a tensor beside `like`, of the dtype that keeps promotion as it is for numbers.
Tensor beside(const Scalar& value, const Tensor& like) {
  return scalar_tensor(value, TensorOptions(result_type(like, value)).device(like.device()));
}

}  // namespace

PyObject* add(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::add(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::add(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::add(y, x); });
}
PyObject* subtract(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::sub(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::sub(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::rsub(y, x); });
}
PyObject* multiply(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::mul(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::mul(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::mul(y, x); });
}
PyObject* divide(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::div(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::div(x, y); },
      [](const Scalar& x, const Tensor& y) { return x / y; });
}
PyObject* floor_divide(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::floor_divide(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::floor_divide(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::floor_divide(beside(x, y), y); });
}
PyObject* remainder(PyObject* a, PyObject* b) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::remainder(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::remainder(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::remainder(beside(x, y), y); });
}
PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return operate(
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::pow(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::pow(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::pow(x, y); });
}
PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    Tensor out;
    {
      const ReleaseGil released;
      out = taeda::matmul(tensor_of(a), tensor_of(b));
    }
    return wrap(std::move(out));
  });
}

// Operators on bits, and shifts: numbers stand on either side.
#define TAEDA_BITS(name, operation)                                             \
  PyObject* name(PyObject* a, PyObject* b) {                                    \
    return operate(                                                             \
        a, b, [](const Tensor& x, const Tensor& y) { return operation(x, y); }, \
        [](const Tensor& x, const Scalar& y) { return operation(x, y); },       \
        [](const Scalar& x, const Tensor& y) { return operation(x, y); });      \
  }
TAEDA_BITS(bit_and, taeda::bitwise_and)
TAEDA_BITS(bit_or, taeda::bitwise_or)
TAEDA_BITS(bit_xor, taeda::bitwise_xor)
TAEDA_BITS(shift_left, taeda::bitwise_left_shift)
TAEDA_BITS(shift_right, taeda::bitwise_right_shift)
#undef TAEDA_BITS

#define TAEDA_CHANGE(name, method)                                   \
  PyObject* name(PyObject* a, PyObject* b) {                         \
    return change(                                                   \
        a, b, [](const Tensor& x, const Tensor& y) { x.method(y); }, \
        [](const Tensor& x, const Scalar& y) { x.method(y); });      \
  }
TAEDA_CHANGE(in_place_add, add_)
TAEDA_CHANGE(in_place_subtract, sub_)
TAEDA_CHANGE(in_place_multiply, mul_)
TAEDA_CHANGE(in_place_divide, div_)
TAEDA_CHANGE(in_place_floor_divide, floor_divide_)
TAEDA_CHANGE(in_place_remainder, remainder_)
TAEDA_CHANGE(in_place_and, bitwise_and_)
TAEDA_CHANGE(in_place_or, bitwise_or_)
TAEDA_CHANGE(in_place_xor, bitwise_xor_)
TAEDA_CHANGE(in_place_shift_left, bitwise_left_shift_)
TAEDA_CHANGE(in_place_shift_right, bitwise_right_shift_)
#undef TAEDA_CHANGE

PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
  return change(
      a, b, [](const Tensor& x, const Tensor& y) { x.pow_(y); },
      [](const Tensor& x, const Scalar& y) { x.pow_(y); });
}

PyObject* negative(PyObject* self) {
  return unary(self, [](const Tensor& x) { return taeda::neg(x); });
}
PyObject* positive(PyObject* self) {
  return unary(self, [](const Tensor& x) { return taeda::positive(x); });
}
PyObject* absolute(PyObject* self) {
  return unary(self, [](const Tensor& x) { return taeda::abs(x); });
}
PyObject* invert(PyObject* self) {
  return unary(self, [](const Tensor& x) {
    TAEDA_CHECK_TYPE(is_integral(x.dtype(), true),
                     "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return taeda::bitwise_not(x);
  });
}

PyObject* compare_tensors(PyObject* a, PyObject* b, int operation) {
  // Otherwise Python would compare addresses: an array leaves the question to the tensor, too.
  if (operation == Py_EQ && Py_TYPE(b)->tp_as_buffer && Py_TYPE(b)->tp_as_buffer->bf_getbuffer &&
      is_array_like(b) && PyObject_HasAttrString(b, "ndim"))
    return guarded([&] { return wrap(taeda::eq(tensor_of(a), tensor_from(b, {}, {}))); });
#define TAEDA_COMPARE(name)                                                     \
  return operate(                                                               \
      a, b, [](const Tensor& x, const Tensor& y) { return taeda::name(x, y); }, \
      [](const Tensor& x, const Scalar& y) { return taeda::name(x, y); },       \
      [](const Scalar&, const Tensor&) -> Tensor { return {}; })
  switch (operation) {
    case Py_EQ: TAEDA_COMPARE(eq);
    case Py_NE: TAEDA_COMPARE(ne);
    case Py_LT: TAEDA_COMPARE(lt);
    case Py_LE: TAEDA_COMPARE(le);
    case Py_GT: TAEDA_COMPARE(gt);
    default: TAEDA_COMPARE(ge);
  }
#undef TAEDA_COMPARE
}

namespace {

/// The one element. Waits for its device without the GIL.
Scalar element(PyObject* self) {
  const Tensor& t = tensor_of(self);
  if (t.numel() != 1)
    raise(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
  const ReleaseGil released(!t.is_cpu());
  return t.item();
}

}  // namespace

int truth(PyObject* self) {
  return guarded_status([&] {
    const Tensor& t = tensor_of(self);
    if (t.numel() == 0)
      raise(PyExc_RuntimeError, "Boolean value of Tensor with no values is ambiguous");
    if (t.numel() > 1)
      raise(PyExc_RuntimeError, "Boolean value of Tensor with more than one value is ambiguous");
    return element(self).cast<bool>() ? 1 : 0;
  });
}
PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Scalar value = element(self);
    if (!value.is_floating_point()) return PyLong_FromLongLong(value.toLong());
    Ref number(checked(PyFloat_FromDouble(value.toDouble())));
    return PyNumber_Long(number.get());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded([&] { return PyFloat_FromDouble(element(self).toDouble()); });
}
PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (!is_integral(t.dtype(), true) || t.numel() != 1)
      raise(PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(element(self).cast<int64_t>());
  });
}

}  // namespace taeda::python
