#include "numbers.h"

#include "data.h"
#include "overrides.h"
#include "taeda/taeda.h"
#include "taeda/tensor/mapped.h"
#include "tensor_type.h"
#include "values.h"

namespace taeda::python {

namespace {

constexpr int64_t kHeavy = int64_t{1} << 15;

bool is_heavy(const Tensor& t) { return t.numel() >= kHeavy || !t.is_cpu(); }

template <class F>
[[gnu::always_inline]] inline PyObject* of_both(PyObject* a, PyObject* b, F&& f) {
  const Tensor &x = tensor_of(a), &y = tensor_of(b);
  Tensor out;
  {
    const ReleaseGil released(is_heavy(x) || is_heavy(y));
    out = f(x, y);
  }
  return wrap(std::move(out));
}

template <class F>
PyObject* of_one(PyObject* a, F&& f) {
  const Tensor& x = tensor_of(a);
  Tensor out;
  {
    const ReleaseGil released(is_heavy(x));
    out = f(x);
  }
  return wrap(std::move(out));
}

/// The methods that stand for an operator where it is overridden: of the tensor on the left, or on
/// the right of something else.
struct Names {
  const char *left, *right;
};

PyObject* overridden_operator(const Names& names, PyObject* a, PyObject* b) {
  if (is_tensor(a)) return overridden_method(names.left, {a, b}, true);
  return overridden_method(names.right, {b, a}, true);
}

// One of two operands is a tensor, the other a tensor or a number. Something else may know what to
// do with a tensor.
template <class TT, class TS, class ST>
PyObject* operate(const Names& names, PyObject* a, PyObject* b, TT&& both, TS&& right_number,
                  ST&& left_number) {
  return guarded([&]() -> PyObject* {
    if (is_plain(a)) {
      if (is_plain(b)) return of_both(a, b, both);
      if (PyFloat_CheckExact(b) || PyLong_CheckExact(b)) {
        const Scalar y = to_scalar(b);
        return of_one(a, [&](const Tensor& x) { return right_number(x, y); });
      }
    }
    if (!is_inert(a) || !is_inert(b))
      if (PyObject* made = overridden_operator(names, a, b)) return made;
    if (is_tensor(a)) {
      if (is_tensor(b)) return of_both(a, b, both);
      if (!is_number(b)) Py_RETURN_NOTIMPLEMENTED;
      const Scalar y = to_scalar(b);
      return of_one(a, [&](const Tensor& x) { return right_number(x, y); });
    }
    if (!is_number(a)) Py_RETURN_NOTIMPLEMENTED;
    const Scalar x = to_scalar(a);
    return of_one(b, [&](const Tensor& y) { return left_number(x, y); });
  });
}

// The result is the tensor on the left.
template <class TT, class TS>
PyObject* change(const char* method, PyObject* a, PyObject* b, TT&& tensor, TS&& number) {
  return guarded([&]() -> PyObject* {
    if (!is_plain(a) || !is_inert(b)) [[unlikely]]
      if (PyObject* made = overridden_method(method, {a, b}, true)) return made;
    const Tensor& x = tensor_of(a);
    if (is_tensor(b)) {
      const ReleaseGil released(is_heavy(x));
      tensor(x, tensor_of(b));
    } else if (is_number(b)) {
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
PyObject* unary(const char* method, PyObject* self, F&& f) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_method(method, {self})) return made;
    return of_one(self, f);
  });
}

/// A number as a tensor beside `like`, of the dtype that keeps promotion as it is for numbers.
Tensor beside(const Scalar& value, const Tensor& like) {
  return scalar_tensor(value, TensorOptions(result_type(like, value)).device(like.device()));
}

}  // namespace

PyObject* add(PyObject* a, PyObject* b) {
  return operate(
      {"add", "add"}, a, b, [](const Tensor& x, const Tensor& y) { return taeda::add(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::add(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::add(y, x); });
}
PyObject* subtract(PyObject* a, PyObject* b) {
  return operate(
      {"sub", "__rsub__"}, a, b, [](const Tensor& x, const Tensor& y) { return taeda::sub(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::sub(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::rsub(y, x); });
}
PyObject* multiply(PyObject* a, PyObject* b) {
  return operate(
      {"mul", "mul"}, a, b, [](const Tensor& x, const Tensor& y) { return taeda::mul(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::mul(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::mul(y, x); });
}
PyObject* divide(PyObject* a, PyObject* b) {
  return operate(
      {"div", "__rtruediv__"}, a, b,
      [](const Tensor& x, const Tensor& y) { return taeda::div(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::div(x, y); },
      [](const Scalar& x, const Tensor& y) { return x / y; });
}
PyObject* floor_divide(PyObject* a, PyObject* b) {
  return operate(
      {"__floordiv__", "__rfloordiv__"}, a, b,
      [](const Tensor& x, const Tensor& y) { return taeda::floor_divide(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::floor_divide(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::floor_divide(beside(x, y), y); });
}
PyObject* remainder(PyObject* a, PyObject* b) {
  return operate(
      {"remainder", "__rmod__"}, a, b,
      [](const Tensor& x, const Tensor& y) { return taeda::remainder(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::remainder(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::remainder(beside(x, y), y); });
}
PyObject* power(PyObject* a, PyObject* b, PyObject*) {
  return operate(
      {"pow", "__rpow__"}, a, b, [](const Tensor& x, const Tensor& y) { return taeda::pow(x, y); },
      [](const Tensor& x, const Scalar& y) { return taeda::pow(x, y); },
      [](const Scalar& x, const Tensor& y) { return taeda::pow(x, y); });
}
PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!is_plain(a) || !is_plain(b)) {
      if (PyObject* made = overridden_operator({"matmul", "__rmatmul__"}, a, b)) return made;
      if (!is_tensor(a) || !is_tensor(b)) Py_RETURN_NOTIMPLEMENTED;
    }
    Tensor out;
    {
      const ReleaseGil released;
      out = taeda::matmul(tensor_of(a), tensor_of(b));
    }
    return wrap(std::move(out));
  });
}

// Operators on bits, and shifts: numbers stand on either side.
#define TAEDA_BITS(name, operation, left, right)                                               \
  PyObject* name(PyObject* a, PyObject* b) {                                                   \
    return operate(                                                                            \
        {left, right}, a, b, [](const Tensor& x, const Tensor& y) { return operation(x, y); }, \
        [](const Tensor& x, const Scalar& y) { return operation(x, y); },                      \
        [](const Scalar& x, const Tensor& y) { return operation(x, y); });                     \
  }
TAEDA_BITS(bit_and, taeda::bitwise_and, "__and__", "bitwise_and")
TAEDA_BITS(bit_or, taeda::bitwise_or, "__or__", "bitwise_or")
TAEDA_BITS(bit_xor, taeda::bitwise_xor, "__xor__", "bitwise_xor")
TAEDA_BITS(shift_left, taeda::bitwise_left_shift, "__lshift__", "__rlshift__")
TAEDA_BITS(shift_right, taeda::bitwise_right_shift, "__rshift__", "__rrshift__")
#undef TAEDA_BITS

#define TAEDA_CHANGE(name, method, override)                                   \
  PyObject* name(PyObject* a, PyObject* b) {                                   \
    return change(                                                             \
        override, a, b, [](const Tensor& x, const Tensor& y) { x.method(y); }, \
        [](const Tensor& x, const Scalar& y) { x.method(y); });                \
  }
TAEDA_CHANGE(in_place_add, add_, "add_")
TAEDA_CHANGE(in_place_subtract, sub_, "sub_")
TAEDA_CHANGE(in_place_multiply, mul_, "mul_")
TAEDA_CHANGE(in_place_divide, div_, "div_")
TAEDA_CHANGE(in_place_floor_divide, floor_divide_, "floor_divide_")
TAEDA_CHANGE(in_place_remainder, remainder_, "remainder_")
TAEDA_CHANGE(in_place_and, bitwise_and_, "__iand__")
TAEDA_CHANGE(in_place_or, bitwise_or_, "__ior__")
TAEDA_CHANGE(in_place_xor, bitwise_xor_, "__ixor__")
TAEDA_CHANGE(in_place_shift_left, bitwise_left_shift_, "__ilshift__")
TAEDA_CHANGE(in_place_shift_right, bitwise_right_shift_, "__irshift__")
#undef TAEDA_CHANGE

PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) {
  return change(
      "pow_", a, b, [](const Tensor& x, const Tensor& y) { x.pow_(y); },
      [](const Tensor& x, const Scalar& y) { x.pow_(y); });
}

PyObject* negative(PyObject* self) {
  return unary("neg", self, [](const Tensor& x) { return taeda::neg(x); });
}
PyObject* positive(PyObject* self) {
  return unary("positive", self, [](const Tensor& x) { return taeda::positive(x); });
}
PyObject* absolute(PyObject* self) {
  return unary("abs", self, [](const Tensor& x) { return taeda::abs(x); });
}
PyObject* invert(PyObject* self) {
  return unary("__invert__", self, [](const Tensor& x) {
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
#define TAEDA_COMPARE(name)                                                                     \
  return operate(                                                                               \
      {#name, #name}, a, b, [](const Tensor& x, const Tensor& y) { return taeda::name(x, y); }, \
      [](const Tensor& x, const Scalar& y) { return taeda::name(x, y); },                       \
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

void warn_of_lost_history(const Tensor& t) {
  if (t.requires_grad() && GradMode::is_enabled()) [[unlikely]]
    TAEDA_WARN_ONCE(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.");
}

int truth(PyObject* self) {
  return guarded_status([&] {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (const Ref made(overridden_method("__bool__", {self})); made)
        return to_bool(made.get()) ? 1 : 0;
    const Tensor& t = tensor_of(self);
    if (t.numel() == 0)
      raise(PyExc_RuntimeError, "Boolean value of Tensor with no values is ambiguous");
    if (t.numel() > 1)
      raise(PyExc_RuntimeError, "Boolean value of Tensor with more than one value is ambiguous");
    return (is_mapped(t) ? t.is_nonzero() : element(self).cast<bool>()) ? 1 : 0;
  });
}
PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_method("__int__", {self})) return made;
    const Scalar value = element(self);
    if (!value.is_floating_point()) return PyLong_FromLongLong(value.toLong());
    Ref number(checked(PyFloat_FromDouble(value.toDouble())));
    return PyNumber_Long(number.get());
  });
}
PyObject* as_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_method("__float__", {self})) return made;
    warn_of_lost_history(tensor_of(self));
    return PyFloat_FromDouble(element(self).toDouble());
  });
}
PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (!is_plain_or_parameter(self)) [[unlikely]]
      if (PyObject* made = overridden_method("__index__", {self})) return made;
    const Tensor& t = tensor_of(self);
    if (!is_integral(t.dtype(), true) || t.numel() != 1)
      raise(PyExc_TypeError,
            "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(element(self).cast<int64_t>());
  });
}

}  // namespace taeda::python
