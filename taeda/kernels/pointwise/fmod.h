// The remainder of a division of floats where its quotient is not too large, for loops that
// vectorise.
#pragma once

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::detail {

/// Whether bounded_fmod(a, b) is fmod(a, b): of finite numbers whose quotient is below 2^29.
TAEDA_ALWAYS_INLINE bool fits_fmod(float a, float b) {
  const float size = __builtin_fabsf(b);
  return (__builtin_fabsf(a) < size * 536870912.0f) & (size <= 3.40282347e38f);
}

/// fmod without branches, in double: the product of the quotient's 29 bits and b's 24 is exact, and
/// rounding the quotient up to an integer leaves a remainder of the wrong sign, which b's size puts
/// right.
TAEDA_ALWAYS_INLINE float bounded_fmod(float a, float b) {
  const double x = __builtin_fabs(static_cast<double>(a)),
               y = __builtin_fabs(static_cast<double>(b));
  const double rest = x - __builtin_trunc(x / y) * y;
  return __builtin_copysignf(static_cast<float>(rest < 0 ? rest + y : rest), a);
}

/// The same of double, of quotients below 2^52 where a product and a sum are rounded together.
TAEDA_ALWAYS_INLINE bool fits_fmod(double a, double b) {
#if defined(__FMA__)
  const double size = __builtin_fabs(b);
  return (__builtin_fabs(a) < size * 4503599627370496.0) & (size <= 1.7976931348623157e308);
#else
  (void)a, (void)b;
  return false;
#endif
}

/// The quotient is right or one too large, and what is left has no more bits than b: it is exact.
TAEDA_ALWAYS_INLINE double bounded_fmod(double a, double b) {
  const double x = __builtin_fabs(a), y = __builtin_fabs(b);
  const double rest = __builtin_fma(-__builtin_trunc(x / y), y, x);
  return __builtin_copysign(rest < 0 ? rest + y : rest, a);
}

/// The remainder with the sign of b.
template <class T>
TAEDA_ALWAYS_INLINE T bounded_modulo(T a, T b) {
  const T mod = bounded_fmod(a, b);
  return mod != T(0) && (b < T(0)) != (mod < T(0)) ? mod + b : mod;
}

TAEDA_ALWAYS_INLINE float round_down(float x) { return __builtin_floorf(x); }
TAEDA_ALWAYS_INLINE double round_down(double x) { return __builtin_floor(x); }
TAEDA_ALWAYS_INLINE float zero_with_sign_of(float x) { return __builtin_copysignf(0.0f, x); }
TAEDA_ALWAYS_INLINE double zero_with_sign_of(double x) { return __builtin_copysign(0.0, x); }

/// The quotient rounded down, from the exact remainder.
template <class T>
TAEDA_ALWAYS_INLINE T bounded_floor_divide(T a, T b) {
  const T mod = bounded_fmod(a, b);
  const T below = mod != T(0) && (b < T(0)) != (mod < T(0)) ? T(1) : T(0);
  const T div = (a - mod) / b - below, down = round_down(div);
  return div == T(0) ? zero_with_sign_of(a / b) : div - down > T(0.5) ? down + T(1) : down;
}

}  // namespace taeda::inline v0_2::detail
