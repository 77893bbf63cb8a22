#include "taeda/ops/elementwise/arithmetic.h"

#include <algorithm>

#include "bodies/arithmetic.h"
#include "taeda/autograd/runs_once.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/compare.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/mapped.h"
#include "taeda/tensor/result_type.h"

namespace taeda::inline v0_2 {

using detail::conjugate;
using detail::in_place;
using detail::in_place_recorded;
using detail::on_values;
using detail::scaled;

namespace {

void check_alpha(const Operand& a, const Operand& b, const Scalar& alpha) {
  if (alpha.is_integral() && alpha.equal(1)) return;
  const ScalarType result = result_type({a, b});
  TAEDA_CHECK(!alpha.is_boolean() || result == kBool,
              "Boolean alpha only supported for Boolean results.");
  TAEDA_CHECK(is_differentiable(result) || alpha.is_integral(true),
              "For integral input tensors, argument alpha must not be a floating point number.");
  TAEDA_CHECK(is_complex(result) || !alpha.is_complex(),
              "For non-complex input tensors, argument alpha must not be a complex number.");
  detail::check_number(result, alpha);
}

bool is_bool(const Tensor& t) { return t.dtype() == kBool; }

/// The second input where that is a number: an edge to nowhere, as in PyTorch's graphs, where
/// numbers are tensors.
const Tensor kNumber;

bool any_sparse(const Tensor& a, const Tensor& b) {
  return __builtin_expect(!a.is_strided() || !b.is_strided(), 0);
}

void check_no_bool(const Tensor& a, bool other_is_bool) {
  TAEDA_CHECK_NOT_IMPLEMENTED(
      !(is_bool(a) && other_is_bool),
      "Subtraction, the `-` operator, with two bool tensors is not supported. "
      "Use the `^` or `logical_xor()` operator instead.");
  TAEDA_CHECK_NOT_IMPLEMENTED(
      !is_bool(a) && !other_is_bool,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If "
      "you are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
}

}  // namespace

// ---- add, sub ----

Tensor do_add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (any_sparse(self, other)) return detail::sparse_add(self, other, alpha);
  check_alpha(self, other, alpha);
  Tensor out = pointwise(Add{alpha}, self, other);
  if (wants_grad(self, other))
    record("AddBackward0", out, {self, other}, [alpha](const Tensor& g, Needs needs) {
      return TensorVec{g, needs[1] ? scaled(g, alpha) : Tensor()};
    });
  return out;
}

Tensor do_add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_alpha(self, other, alpha);
  Tensor out = pointwise(Add{alpha}, self, other);
  if (wants_grad(self))
    record("AddBackward0", out, {self, kNumber}, [](const Tensor& g) { return g; });
  return out;
}

Tensor do_sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_no_bool(self, is_bool(other));
  if (any_sparse(self, other)) return detail::sparse_add(self, other, -alpha);
  check_alpha(self, other, alpha);
  Tensor out = pointwise(Sub{alpha}, self, other);
  if (wants_grad(self, other))
    record("SubBackward0", out, {self, other}, [alpha](const Tensor& g, Needs needs) {
      return TensorVec{g, needs[1] ? scaled(g.neg(), alpha) : Tensor()};
    });
  return out;
}

Tensor do_sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_no_bool(self, other.is_boolean());
  check_alpha(self, other, alpha);
  Tensor out = pointwise(Sub{alpha}, self, other);
  if (wants_grad(self))
    record("SubBackward0", out, {self, kNumber}, [](const Tensor& g) { return g; });
  return out;
}

Tensor do_rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_no_bool(self, other.is_boolean());
  check_alpha(self, other, alpha);
  Tensor out = pointwise_as("rsub", Sub{alpha}, other, self);
  if (wants_grad(self))
    record("RsubBackward1", out, {self},
           [alpha](const Tensor& g) { return scaled(g.neg(), alpha); });
  return out;
}

// ---- mul, div ----

namespace {

/// Whether a number beside these is one of more digits than they have: it is not rounded to theirs.
bool has_few_digits(const Tensor& self, const Scalar& number) {
  return is_reduced_floating(self.dtype()) && !number.is_complex();
}

/// What multiplies 16-bit floats with a number of float's digits: -0 + number x.
Add times(double number) { return {static_cast<float>(number)}; }
const Scalar kNothing = -0.0;

}  // namespace

Tensor do_mul(const Tensor& self, const Tensor& other) {
  if (any_sparse(self, other)) return detail::sparse_mul(self, other);
  Tensor out = pointwise(Mul{}, self, other);
  if (wants_grad(self, other))
    record("MulBackward0", out, {self, other},
           [a = save_if(other.requires_grad(), self),
            b = save_if(self.requires_grad(), other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(conjugate(b.unpack())) : Tensor(),
                              needs[1] ? g.mul(conjugate(a.unpack())) : Tensor()};
           });
  return out;
}

Tensor do_mul(const Tensor& self, const Scalar& other) {
  if (!self.is_strided()) [[unlikely]]
    return on_values(self, true, [&](const Tensor& values) { return values.mul(other); });
  Tensor out = has_few_digits(self, other)
                   ? pointwise_as("mul", times(other.cast<double>()), kNothing, self)
                   : pointwise(Mul{}, self, other);
  if (wants_grad(self)) {
    autograd::runs_once();
    record("MulBackward0", out, {self, kNumber},
           [other](const Tensor& g) { return g.mul(conjugate(other)); });
  }
  return out;
}

namespace {

enum class Rounding { None, Trunc, Floor };

Rounding rounding_of(std::optional<std::string_view> name) {
  if (!name) return Rounding::None;
  if (*name == "trunc") return Rounding::Trunc;
  if (*name == "floor") return Rounding::Floor;
  throw Error(taeda::detail::concat(
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *name, "'"));
}

bool is_integer(const Operand& o) {
  return o.tensor() ? is_integral(o.tensor()->dtype(), true) : o.scalar().is_integral(true);
}

/// Integers have no infinity to answer with. An accelerator would have to be waited for: there, as
/// in PyTorch, a division by zero is no error.
void check_divisor(const Operand& a, const Operand& b) {
  if (!is_integer(a) || !is_integer(b)) return;
  for (const Operand* o : {&a, &b})
    if (o->tensor() && !detail::can_look_at_values(o->tensor()->device())) return;
  bool zero = false;
  if (const Tensor* t = b.tensor()) {
    const Tensor zeros = pointwise(Eq{}, *t, Scalar(0)).contiguous();
    const bool* first = zeros.data_ptr<bool>();
    zero = std::find(first, first + zeros.numel(), true) != first + zeros.numel();
  } else {
    zero = b.scalar().equal(0);
  }
  TAEDA_CHECK(!zero, "ZeroDivisionError");
}

template <class A, class B>
Tensor divided(const char* op, const A& a, const B& b, Rounding mode) {
  if constexpr (std::is_same_v<B, Scalar>) {
    if (has_few_digits(a, b)) {
      if (mode == Rounding::None)
        return pointwise_as(op, times(1 / b.template cast<double>()), kNothing, a);
      const NoGradGuard guard;
      return divided(op, a.to(kFloat), b, mode).to(a.dtype());
    }
  }
  if (mode == Rounding::None) return pointwise_as(op, Div{}, a, b);
  check_divisor(a, b);
  return mode == Rounding::Trunc ? pointwise_as(op, DivTrunc{}, a, b)
                                 : pointwise_as(op, DivFloor{}, a, b);
}

template <class B>
void divide_into(const Tensor& self, const B& other, Rounding mode) {
  Tensor from = self;
  if constexpr (std::is_same_v<B, Scalar>) {
    if (has_few_digits(self, other)) {
      if (mode == Rounding::None)
        return pointwise_into(times(1 / other.template cast<double>()), self, kNothing, self);
      const NoGradGuard guard;
      from = self.to(kFloat);
    }
  }
  if (mode == Rounding::None) return pointwise_into(Div{}, self, from, other);
  check_divisor(from, other);
  if (mode == Rounding::Trunc)
    pointwise_into(DivTrunc{}, self, from, other);
  else
    pointwise_into(DivFloor{}, self, from, other);
}

}  // namespace

Tensor do_div(const Tensor& self, const Tensor& other,
              std::optional<std::string_view> rounding_mode) {
  if (any_sparse(self, other)) return detail::sparse_div(self, other, rounding_mode);
  const Rounding mode = rounding_of(rounding_mode);
  Tensor out = divided("div", self, other, mode);
  if (!wants_grad(self, other)) return out;
  if (mode != Rounding::None) {
    record("DivBackward2", out, {self, other}, [](const Tensor& g, Needs) {
      return TensorVec{detail::zeros_like(g), detail::zeros_like(g)};
    });
    return out;
  }
  record("DivBackward0", out, {self, other},
         [a = save_if(other.requires_grad(), self), b = save_tensor(other, "other")](
             const Tensor& g, Needs needs) {
           const Tensor divisor = conjugate(b.unpack());
           Tensor by_divisor;
           if (needs[1]) {
             // The quotient comes before g: g / divisor may be too large for 0 to undo. -g slope.
             const Tensor slope = conjugate(a.unpack()).div(divisor).div(divisor);
             by_divisor = zeros({}, slope.options()).addcmul(g, slope, -1);
           }
           return TensorVec{needs[0] ? g.div(divisor) : Tensor(), by_divisor};
         });
  return out;
}

Tensor do_div(const Tensor& self, const Scalar& other,
              std::optional<std::string_view> rounding_mode) {
  if (!self.is_strided()) [[unlikely]]
    return on_values(self, !rounding_mode,
                     [&](const Tensor& values) { return values.div(other, rounding_mode); });
  const Rounding mode = rounding_of(rounding_mode);
  Tensor out = divided("div", self, other, mode);
  if (wants_grad(self)) {
    autograd::runs_once();
    record(mode == Rounding::None ? "DivBackward0" : "DivBackward2", out, {self, kNumber},
           [mode, other](const Tensor& g) {
             return mode == Rounding::None ? g.div(conjugate(other)) : detail::zeros_like(g);
           });
  }
  return out;
}

Tensor operator/(const Scalar& a, const Tensor& b) {
  if (is_mapped(b)) return full({}, a, b.options().dtype(result_type(a, b))).div(b);
  Tensor out = pointwise(Div{}, a, b);
  if (wants_grad(b))
    record("DivBackward0", out, {b}, [a, b = save_tensor(b, "b")](const Tensor& g) {
      const Tensor divisor = conjugate(b.unpack());
      return g.mul((conjugate(a) / divisor).div(divisor)).neg();
    });
  return out;
}

Tensor do_floor_divide(const Tensor& self, const Tensor& other) {
  return divided("floor_divide", self, other, Rounding::Floor);
}
Tensor do_floor_divide(const Tensor& self, const Scalar& other) {
  if (!self.is_strided()) return self.div(other, "floor");
  return divided("floor_divide", self, other, Rounding::Floor);
}

// ---- remainders ----

Tensor do_remainder(const Tensor& self, const Tensor& other) {
  check_divisor(self, other);
  Tensor out = pointwise(Remainder{}, self, other);
  if (wants_grad(self, other))
    record("RemainderBackward1", out, {self, other},
           [a = save_if(other.requires_grad(), self),
            b = save_if(other.requires_grad(), other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{
                 g, needs[1] ? g.mul(floor_divide(a.unpack(), b.unpack())).neg() : Tensor()};
           });
  return out;
}

Tensor do_remainder(const Tensor& self, const Scalar& other) {
  check_divisor(self, other);
  Tensor out = pointwise(Remainder{}, self, other);
  if (wants_grad(self))
    record("RemainderBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

Tensor do_remainder(const Scalar& self, const Tensor& other) {
  check_divisor(self, other);
  Tensor out = pointwise(Remainder{}, self, other);
  if (wants_grad(other))
    record("RemainderBackward1", out, {other},
           [self, b = save_tensor(other, "other")](const Tensor& g) {
             return g.mul(pointwise(DivFloor{}, self, b.unpack())).neg();
           });
  return out;
}

Tensor do_fmod(const Tensor& self, const Tensor& other) {
  check_divisor(self, other);
  Tensor out = pointwise(Fmod{}, self, other);
  if (wants_grad(self, other))
    record("FmodBackward1", out, {self, other},
           [a = save_if(other.requires_grad(), self),
            b = save_if(other.requires_grad(), other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{g, needs[1]
                                     ? g.mul(pointwise(DivTrunc{}, a.unpack(), b.unpack())).neg()
                                     : Tensor()};
           });
  return out;
}

Tensor do_fmod(const Tensor& self, const Scalar& other) {
  check_divisor(self, other);
  Tensor out = pointwise(Fmod{}, self, other);
  if (wants_grad(self)) record("FmodBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

// ---- in place ----

Tensor& do_add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (any_sparse(self, other)) return detail::sparse_add_(self, other, alpha);
  check_alpha(self, other, alpha);
  return in_place_recorded(
      "add_", "AddBackward0", self, {self, other},
      [&] { pointwise_into(Add{alpha}, self, self, other); },
      [&] {
        return [alpha](const Tensor& g, Needs needs) {
          return TensorVec{g, needs[1] ? scaled(g, alpha) : Tensor()};
        };
      });
}

Tensor& do_add_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_alpha(self, other, alpha);
  return in_place_recorded(
      "add_", "AddBackward0", self, {self, kNumber},
      [&] { pointwise_into(Add{alpha}, self, self, other); },
      [] { return [](const Tensor& g) { return g; }; });
}

Tensor& do_sub_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_no_bool(self, is_bool(other));
  if (any_sparse(self, other)) return detail::sparse_add_(self, other, -alpha);
  check_alpha(self, other, alpha);
  return in_place_recorded(
      "sub_", "SubBackward0", self, {self, other},
      [&] { pointwise_into(Sub{alpha}, self, self, other); },
      [&] {
        return [alpha](const Tensor& g, Needs needs) {
          return TensorVec{g, needs[1] ? scaled(g.neg(), alpha) : Tensor()};
        };
      });
}

Tensor& do_sub_(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_no_bool(self, other.is_boolean());
  check_alpha(self, other, alpha);
  return in_place_recorded(
      "sub_", "SubBackward0", self, {self, kNumber},
      [&] { pointwise_into(Sub{alpha}, self, self, other); },
      [] { return [](const Tensor& g) { return g; }; });
}

Tensor& do_mul_(const Tensor& self, const Tensor& other) {
  return in_place(
      "mul_", self, wants_grad(self, other), [&](const Tensor& self) { return self.mul(other); },
      [&] { pointwise_into(Mul{}, self, self, other); });
}

Tensor& do_mul_(const Tensor& self, const Scalar& other) {
  if (!self.is_strided()) [[unlikely]]
    return detail::assign("mul_", self, wants_grad(self),
                          [&](const Tensor& self) { return self.mul(other); });
  return in_place_recorded(
      "mul_", "MulBackward0", self, {self, kNumber},
      [&] {
        if (has_few_digits(self, other))
          pointwise_into(times(other.cast<double>()), self, kNothing, self);
        else
          pointwise_into(Mul{}, self, self, other);
      },
      [&] {
        autograd::runs_once();
        return [other](const Tensor& g) { return g.mul(conjugate(other)); };
      });
}

Tensor& do_div_(const Tensor& self, const Tensor& other,
                std::optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding_of(rounding_mode);
  return in_place(
      "div_", self, wants_grad(self, other),
      [&](const Tensor& self) { return self.div(other, rounding_mode); },
      [&] { divide_into(self, other, mode); });
}

Tensor& do_div_(const Tensor& self, const Scalar& other,
                std::optional<std::string_view> rounding_mode) {
  const Rounding mode = rounding_of(rounding_mode);
  return in_place(
      "div_", self, wants_grad(self),
      [&](const Tensor& self) { return self.div(other, rounding_mode); },
      [&] { divide_into(self, other, mode); });
}

Tensor& Tensor::true_divide_(const Tensor& other) const { return div_(other); }
Tensor& Tensor::true_divide_(const Scalar& other) const { return div_(other); }

}  // namespace taeda::inline v0_2
