// Formulas of arithmetic.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/complex.h"
#include "taeda/kernels/pointwise/complex_division.h"
#include "taeda/kernels/pointwise/division.h"
#include "taeda/kernels/wrapping.h"

namespace taeda::inline v0_2 {

/// a + alpha * b
struct Add {
  static constexpr const char* name = "add";
  static constexpr int arity = 2;
  using Types = AllTypes;
  Scalar alpha = 1;

  template <class T>
  struct Bound {
    T alpha;
    TAEDA_HD T operator()(T a, T b) const {
      if constexpr (wrapping::kCanOverflow<T>)
        return wrapping::add(a, wrapping::mul(alpha, b));
      else
        return static_cast<T>(a + alpha * b);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {alpha.to<T>()};
  }
};

/// a - alpha * b
struct Sub {
  static constexpr const char* name = "sub";
  static constexpr int arity = 2;
  using Types = AllTypes;
  Scalar alpha = 1;

  template <class T>
  struct Bound {
    T alpha;
    TAEDA_HD T operator()(T a, T b) const {
      if constexpr (wrapping::kCanOverflow<T>)
        return wrapping::sub(a, wrapping::mul(alpha, b));
      else
        return static_cast<T>(a - alpha * b);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {alpha.to<T>()};
  }
};

struct Mul : Pointwise<2, AllTypes> {
  static constexpr const char* name = "mul";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return wrapping::mul(a, b);
  }
};

struct Div : Pointwise<2, FloatComplexTypes> {
  static constexpr const char* name = "div";
  static constexpr bool promotes_to_float = true;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return detail::quotient(a, b);
  }
  template <class T>
  static bool fits(complex<T> a, complex<T> b) {
    return detail::fits_quotient(a, b);
  }
  template <class T>
  complex<T> bounded(complex<T> a, complex<T> b) const {
    return a / b;
  }
};

struct Pow : Pointwise<2, RealTypes> {
  static constexpr const char* name = "pow";
  static constexpr ComplexPow complex_form{};
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b < 0)
        return a == 1 ? T(1) : detail::is_minus_one(a) ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T(0);
      uint64_t result = 1, factor = static_cast<uint64_t>(a);
      for (auto n = static_cast<uint64_t>(b); n; n >>= 1, factor *= factor)
        if (n & 1) result *= factor;
      return static_cast<T>(result);
    } else {
      return math::pow(a, b);
    }
  }
};

/// NaN if either is NaN.
struct Maximum : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "maximum";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

struct Minimum : Pointwise<2, RealBoolTypes> {
  static constexpr const char* name = "minimum";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};

/// The part of maximum's gradient that belongs to a: all of it, half for equal ones, or nothing. A
/// NaN gives each all of it, as in PyTorch.
struct MaximumShare : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "maximum_share";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a < b ? T(0) : a == b ? T(0.5) : T(1);
  }
};

struct Atan2 : FloatPointwise<2> {
  static constexpr const char* name = "atan2";
  template <class T>
  TAEDA_HD T operator()(T y, T x) const {
    return math::atan2(y, x);
  }
};

struct Hypot : Pointwise<2, FloatTypes> {
  static constexpr const char* name = "hypot";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return math::hypot(a, b);
  }
};

/// start + weight (end - start), from whichever end is nearer, so that weight 1 gives `end`
/// exactly.
struct Lerp : Pointwise<3, FloatComplexTypes> {
  static constexpr const char* name = "lerp";
  template <class T>
  TAEDA_HD T operator()(T start, T end, T weight) const {
    const T span = end - start;
    if constexpr (std::is_floating_point_v<T>) {
      return (weight < T(0) ? -weight : weight) < T(0.5) ? start + weight * span
                                                         : end - span * (T(1) - weight);
    } else {
      const auto size = weight.re * weight.re + weight.im * weight.im;
      return size < 0.25f ? start + weight * span : end - span * (T(1) - weight);
    }
  }
};

/// x + value * a * b
struct Addcmul {
  static constexpr const char* name = "addcmul";
  static constexpr int arity = 3;
  using Types = AllTypes;
  Scalar value = 1;

  template <class T>
  struct Bound {
    T value;
    TAEDA_HD T operator()(T x, T a, T b) const {
      if constexpr (std::is_integral_v<T>)
        return wrapping::add(x, wrapping::mul(wrapping::mul(value, a), b));
      else
        return static_cast<T>(x + value * a * b);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {value.to<T>()};
  }
};

/// x + value * a / b
struct Addcdiv {
  static constexpr const char* name = "addcdiv";
  static constexpr int arity = 3;
  using Types = FloatComplexTypes;
  Scalar value = 1;

  template <class T>
  struct Bound {
    T value;
    TAEDA_HD T operator()(T x, T a, T b) const {
      if constexpr (std::is_floating_point_v<T>)
        return x + value * a / b;
      else
        return x + detail::quotient(value * a, b);
    }
  };
  template <class T>
  Bound<T> bind() const {
    return {value.to<T>()};
  }
};

using ArithmeticOps = OpList<Add, Sub, Mul, Div, DivTrunc, DivFloor, Remainder, Fmod, Pow, Maximum,
                             Minimum, MaximumShare, Atan2, Hypot, Lerp, Addcmul, Addcdiv>;

}  // namespace taeda::inline v0_2
