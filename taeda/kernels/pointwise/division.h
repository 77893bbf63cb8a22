// Formulas of quotients that are whole numbers, and of what they leave. Integer division by zero
// gives 0 here: the operations reject it first.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/fmod.h"
#include "taeda/kernels/pointwise/integer_division.h"

namespace taeda::inline v0_2 {

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
struct DivTrunc : Pointwise<2, RealTypes> {
  static constexpr const char* name = "div_trunc";
  static bool fits(int64_t a, int64_t b) { return detail::fits_division(a, b); }
  int64_t bounded(int64_t a, int64_t b) const { return detail::bounded_div_trunc(a, b); }
  static bool fits(int32_t a, int32_t b) { return detail::fits_division(a, b); }
  int32_t bounded(int32_t a, int32_t b) const { return detail::bounded_div_trunc(a, b); }
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
struct DivFloor : Pointwise<2, RealTypes> {
  static constexpr const char* name = "div_floor";
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  float bounded(float a, float b) const { return detail::bounded_floor_divide(a, b); }
  static bool fits(double a, double b) { return detail::fits_fmod(a, b); }
  double bounded(double a, double b) const { return detail::bounded_floor_divide(a, b); }
  static bool fits(int64_t a, int64_t b) { return detail::fits_division(a, b); }
  int64_t bounded(int64_t a, int64_t b) const { return detail::bounded_div_floor(a, b); }
  static bool fits(int32_t a, int32_t b) { return detail::fits_division(a, b); }
  int32_t bounded(int32_t a, int32_t b) const { return detail::bounded_div_floor(a, b); }
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
struct Remainder : Pointwise<2, RealTypes> {
  static constexpr const char* name = "remainder";
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  static bool fits(int64_t a, int64_t b) { return detail::fits_division(a, b); }
  int64_t bounded(int64_t a, int64_t b) const { return detail::bounded_remainder(a, b); }
  static bool fits(int32_t a, int32_t b) { return detail::fits_division(a, b); }
  int32_t bounded(int32_t a, int32_t b) const { return detail::bounded_remainder(a, b); }
  float bounded(float a, float b) const { return detail::bounded_modulo(a, b); }
  static bool fits(double a, double b) { return detail::fits_fmod(a, b); }
  double bounded(double a, double b) const { return detail::bounded_modulo(a, b); }
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
struct Fmod : Pointwise<2, RealTypes> {
  static constexpr const char* name = "fmod";
  static bool fits(float a, float b) { return detail::fits_fmod(a, b); }
  float bounded(float a, float b) const { return detail::bounded_fmod(a, b); }
  static bool fits(double a, double b) { return detail::fits_fmod(a, b); }
  double bounded(double a, double b) const { return detail::bounded_fmod(a, b); }
  static bool fits(int64_t a, int64_t b) { return detail::fits_division(a, b); }
  int64_t bounded(int64_t a, int64_t b) const { return detail::bounded_fmod(a, b); }
  static bool fits(int32_t a, int32_t b) { return detail::fits_division(a, b); }
  int32_t bounded(int32_t a, int32_t b) const { return detail::bounded_fmod(a, b); }
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b == 0 || detail::is_minus_one(b) ? T(0) : static_cast<T>(a % b);
    else
      return std::fmod(a, b);
  }
};

}  // namespace taeda::inline v0_2
