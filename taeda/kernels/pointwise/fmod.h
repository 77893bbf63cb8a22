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

/// The quotient rounded down, from the exact remainder.
TAEDA_ALWAYS_INLINE float bounded_floor_divide(float a, float b) {
  const float mod = bounded_fmod(a, b);
  const float below = mod != 0.0f && (b < 0.0f) != (mod < 0.0f) ? 1.0f : 0.0f;
  const float div = (a - mod) / b - below, down = __builtin_floorf(div);
  return div == 0.0f ? __builtin_copysignf(0.0f, a / b) : div - down > 0.5f ? down + 1.0f : down;
}

}  // namespace taeda::inline v0_2::detail
