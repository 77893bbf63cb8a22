// Formulas of arithmetic. Integer division by zero gives 0 here: the operations reject it first.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/complex.h"
#include "taeda/kernels/pointwise/fmod.h"

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
    TAEDA_HD T operator()(T a, T b) const { return static_cast<T>(a + alpha * b); }
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
    TAEDA_HD T operator()(T a, T b) const { return static_cast<T>(a - alpha * b); }
  };
  template <class T>
  Bound<T> bind() const {
    return {alpha.to<T>()};
  }
};

struct Mul {
  static constexpr const char* name = "mul";
  static constexpr int arity = 2;
  using Types = AllTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};

struct Div {
  static constexpr const char* name = "div";
  static constexpr int arity = 2;
  static constexpr bool promotes_to_float = true;
  using Types = FloatComplexTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a / b;
  }
};

namespace detail {

/// Whether a / b on integers traps: division by zero, and the smallest number by -1.
template <class T>
TAEDA_HD bool is_minus_one(T b) {
  return std::is_signed_v<T> && b == static_cast<T>(-1);
}

template <class T>
TAEDA_HD T negate(T a) {
  return static_cast<T>(std::make_unsigned_t<T>(0) - static_cast<std::make_unsigned_t<T>>(a));
}

}  // namespace detail

/// a / b rounded towards zero.
struct DivTrunc {
  static constexpr const char* name = "div_trunc";
  static constexpr int arity = 2;
  using Types = RealTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      return detail::is_minus_one(b) ? detail::negate(a) : static_cast<T>(a / b);
    } else {
      return std::trunc(a / b);
    }
  }
};

/// a / b rounded down, as Python's //: (a - a % b) / b, corrected by the rounding of the
/// difference.
struct DivFloor {
  static constexpr const char* name = "div_floor";
  static constexpr int arity = 2;
  using Types = RealTypes;
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  float bounded(float a, float b) const { return detail::bounded_floor_divide(a, b); }
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if (detail::is_minus_one(b)) return detail::negate(a);
      return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
    } else {
      if (b == T(0)) return a / b;
      const T mod = std::fmod(a, b);
      T div = (a - mod) / b;
      if (mod != T(0) && (b < T(0)) != (mod < T(0))) div -= T(1);
      if (div == T(0)) return std::copysign(T(0), a / b);
      const T down = std::floor(div);
      return div - down > T(0.5) ? down + T(1) : down;
    }
  }
};

/// Python's %: the result has the sign of b.
struct Remainder {
  static constexpr const char* name = "remainder";
  static constexpr int arity = 2;
  using Types = RealTypes;
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  float bounded(float a, float b) const {
    const float mod = detail::bounded_fmod(a, b);
    return mod != 0.0f && (b < 0.0f) != (mod < 0.0f) ? mod + b : mod;
  }
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0 || detail::is_minus_one(b)) return 0;
      const T mod = static_cast<T>(a % b);
      return static_cast<T>(mod != 0 && (mod < 0) != (b < 0) ? mod + b : mod);
    } else {
      const T mod = std::fmod(a, b);
      return mod != T(0) && (b < T(0)) != (mod < T(0)) ? mod + b : mod;
    }
  }
};

/// C's fmod: the result has the sign of a.
struct Fmod {
  static constexpr const char* name = "fmod";
  static constexpr int arity = 2;
  using Types = RealTypes;
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  float bounded(float a, float b) const { return detail::bounded_fmod(a, b); }
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b == 0 || detail::is_minus_one(b) ? T(0) : static_cast<T>(a % b);
    else
      return std::fmod(a, b);
  }
};

struct Pow {
  static constexpr const char* name = "pow";
  static constexpr int arity = 2;
  using Types = RealTypes;
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
struct Maximum {
  static constexpr const char* name = "maximum";
  static constexpr int arity = 2;
  using Types = RealBoolTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a != a || a > b ? a : b;
  }
};

struct Minimum {
  static constexpr const char* name = "minimum";
  static constexpr int arity = 2;
  using Types = RealBoolTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};

/// The part of maximum's gradient that belongs to a: all of it, half for equal ones, or nothing. A
/// NaN gives each all of it, as in PyTorch.
struct MaximumShare {
  static constexpr const char* name = "maximum_share";
  static constexpr int arity = 2;
  using Types = FloatTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return a < b ? T(0) : a == b ? T(0.5) : T(1);
  }
};

struct Atan2 {
  static constexpr const char* name = "atan2";
  static constexpr int arity = 2;
  static constexpr bool promotes_to_float = true;
  using Types = FloatTypes;
  template <class T>
  TAEDA_HD T operator()(T y, T x) const {
    return math::atan2(y, x);
  }
};

struct Hypot {
  static constexpr const char* name = "hypot";
  static constexpr int arity = 2;
  using Types = FloatTypes;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return std::hypot(a, b);
  }
};

/// start + weight (end - start), from whichever end is nearer, so that weight 1 gives `end`
/// exactly.
struct Lerp {
  static constexpr const char* name = "lerp";
  static constexpr int arity = 3;
  using Types = FloatComplexTypes;
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
    TAEDA_HD T operator()(T x, T a, T b) const { return static_cast<T>(x + value * a * b); }
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
    TAEDA_HD T operator()(T x, T a, T b) const { return x + value * a / b; }
  };
  template <class T>
  Bound<T> bind() const {
    return {value.to<T>()};
  }
};

using ArithmeticOps = OpList<Add, Sub, Mul, Div, DivTrunc, DivFloor, Remainder, Fmod, Pow, Maximum,
                             Minimum, MaximumShare, Atan2, Hypot, Lerp, Addcmul, Addcdiv>;

}  // namespace taeda::inline v0_2
