// The derivative of log Gamma of a float in double, without branches, for loops that vectorise.
#pragma once

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise/lgamma.h"

namespace taeda::inline v0_2::detail {

/// pi / tan(pi r) for |r| <= 1/2; the cosine by that of half the angle, which is exact near 0.
TAEDA_ALWAYS_INLINE double pi_cot_pi(double r) {
  const double half = 0.5 * r * sin_pi_over(0.5 * r);
  return 3.14159265358979323846 * (1.0 - 2.0 * half * half) / (r * sin_pi_over(r));
}

/// The asymptotic series (DLMF 5.11.2) at 8 or above, where y + 8 stands for smaller arguments and
/// the sum of 1 / (y + k) is taken off (5.5.2), below 0 after reflection (5.5.4). For the x of
/// `fits_lgamma`.
TAEDA_ALWAYS_INLINE float bounded_digamma(float argument) {
  const double x = static_cast<double>(argument);
  const bool reflected = x < 0.0;
  const double y = reflected ? 1.0 - x : x;
  const bool small = y < 8.0;
  // The logarithmic derivative of y (y + 1) ... (y + 7), as bounded_lgamma has it.
  const double u = y * (y + 7.0);
  const double a = u * (u + 6.0), b = (u + 10.0) * (u + 12.0);
  const double below = (2.0 * y + 7.0) * ((2.0 * u + 6.0) * b + (2.0 * u + 22.0) * a) / (a * b);
  const double z = small ? y + 8.0 : y, w = 1.0 / z, v = w * w;
  const double series = v * math::detail::poly(v, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240,
                                               1.0 / 132, -691.0 / 32760, 1.0 / 12);
  const double above = math::log(z) - 0.5 * w - series - (small ? below : 0.0);
  const double r = x - math::detail::round_int(x).value;
  const double result = above - (reflected ? pi_cot_pi(r) : 0.0);
  const bool pole = reflected & (r == 0.0);
  const double edge = x == 0.0 ? __builtin_copysign(math::detail::kInfinity<double>, -x)
                               : math::detail::kNan<double>;
  return static_cast<float>(pole | (x == 0.0) ? edge : result);
}

}  // namespace taeda::inline v0_2::detail
