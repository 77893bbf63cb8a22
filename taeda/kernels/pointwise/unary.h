// Formulas of unary mathematics.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/complex.h"
#include "taeda/kernels/pointwise/complex_division.h"
#include "taeda/kernels/wrapping.h"

namespace taeda::inline v0_2 {

/// |x|; real for a complex x.
struct Abs : Pointwise<1, AllTypes> {
  static constexpr const char* name = "abs";
  static ScalarType result_dtype(ScalarType common) { return to_real_type(common); }
  template <class T>
  TAEDA_HD T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return math::fabs(x);
    else
      return x < T(0) ? wrapping::sub(T(0), x) : x;
  }
  template <class T>
  TAEDA_HD T operator()(complex<T> x) const {
    return std::hypot(x.re, x.im);
  }
};

struct Neg : Pointwise<1, AllTypes> {
  static constexpr const char* name = "neg";
  static constexpr const char* not_for_bool =
      "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert "
      "a mask, use the `~` or `logical_not()` operator instead.";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    if constexpr (wrapping::kCanOverflow<T>)
      return wrapping::sub(T(0), x);
    else
      return static_cast<T>(-x);
  }
};

/// -1, 0 or 1; 0 for NaN.
struct Sign : Pointwise<1, RealBoolTypes> {
  static constexpr const char* name = "sign";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return static_cast<T>((x > T(0)) - (x < T(0)));
  }
};

struct Sqrt : FloatPointwise<1> {
  static constexpr const char* name = "sqrt";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Sqrt};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::sqrt(x);
  }
};

struct Rsqrt : FloatPointwise<1> {
  static constexpr const char* name = "rsqrt";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Rsqrt};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return T(1) / math::sqrt(x);
  }
};

/// x x. The real part of a complex square is (a - b)(a + b), a product of its own: the difference
/// of a a and b b cancels, overflows twice, and is another number where one step multiplies and
/// adds.
struct Square : Pointwise<1, AllTypes> {
  static constexpr const char* name = "square";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return wrapping::mul(x, x);
  }
  template <class T>
  TAEDA_HD complex<T> operator()(complex<T> x) const {
    const T difference = x.re - x.im, sum = x.re + x.im;
    const bool equal_parts = difference == T(0) || sum == T(0);
    return {equal_parts ? T(0) : difference * sum, T(2) * (x.re * x.im)};
  }
};

struct Cube : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "cube";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x * x * x;
  }
};

struct Reciprocal : Pointwise<1, FloatComplexTypes> {
  static constexpr const char* name = "reciprocal";
  static constexpr bool promotes_to_float = true;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return detail::quotient(T(1), x);
  }
  template <class T>
  static bool fits(complex<T> x) {
    return detail::fits_quotient(complex<T>(1), x);
  }
  template <class T>
  complex<T> bounded(complex<T> x) const {
    return complex<T>(1) / x;
  }
};

struct Floor : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "floor";
  static constexpr bool keeps_integers = true;  // in place; the operation clones them
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::floor(x);
  }
};

struct Ceil : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "ceil";
  static constexpr bool keeps_integers = true;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::ceil(x);
  }
};

struct Trunc : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "trunc";
  static constexpr bool keeps_integers = true;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::trunc(x);
  }
};

/// To the nearest integer, halves to even.
struct Round : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "round";
  static constexpr bool keeps_integers = true;
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::rint(x);
  }
};

struct Frac : Pointwise<1, FloatTypes> {
  static constexpr const char* name = "frac";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return x - std::trunc(x);
  }
};

struct Conj : Pointwise<1, ComplexTypes> {
  static constexpr const char* name = "conj";
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return {x.re, -x.im};
  }
};

/// min(max(x, low), high); NaN stays NaN.
struct Clamp : Pointwise<3, RealTypes> {
  static constexpr const char* name = "clamp";
  template <class T>
  TAEDA_HD T operator()(T x, T low, T high) const {
    const T up = x < low || low != low ? low : x;
    return up > high || high != high ? high : up;
  }
};

/// Whether a clamped x lies within its bounds: where its gradient passes.
struct ClampMask : Pointwise<3, FloatTypes> {
  static constexpr const char* name = "clamp_mask";
  template <class T>
  TAEDA_HD bool operator()(T x, T low, T high) const {
    return x > low && x < high;
  }
};

/// NaN and the infinities replaced by numbers.
struct NanToNum {
  static constexpr const char* name = "nan_to_num";
  static constexpr int arity = 1;
  using Types = FloatTypes;
  double nan, positive, negative;

  template <class T>
  struct Bound {
    T nan, positive, negative;
    TAEDA_HD T operator()(T x) const {
      const T finite = x - x == T(0) ? x : x > T(0) ? positive : negative;
      return x != x ? nan : finite;
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {static_cast<T>(nan), static_cast<T>(positive), static_cast<T>(negative)};
  }
};

/// Gradients of tanh and sigmoid, from their results.
struct TanhBackward : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "tanh_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T y) const {
    return g * (T(1) - y * y);
  }
};

struct SigmoidBackward : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "sigmoid_backward";
  template <class T>
  TAEDA_HD T operator()(T g, T y) const {
    return g * (T(1) - y) * y;
  }
};

using UnaryOps = OpList<Abs, Neg, Sign, Square, Cube, Conj, Clamp, ClampMask, NanToNum, Floor, Ceil,
                        Round, Trunc, Frac, Sqrt, Rsqrt, Reciprocal, TanhBackward, SigmoidBackward>;

}  // namespace taeda::inline v0_2
