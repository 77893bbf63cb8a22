// log |Gamma| of a float in double, without branches, for loops that vectorise.
#pragma once

#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::detail {

/// Whether bounded_lgamma takes x: not infinite, not NaN, and its nearest integer is easily found.
TAEDA_ALWAYS_INLINE bool fits_lgamma(float x) { return __builtin_fabsf(x) <= 1048576.0f; }

/// sin(pi x) / x for |x| <= 1/2 by its series, to 1e-13.
TAEDA_ALWAYS_INLINE double sin_pi_over(double x) {
  return math::detail::poly(x * x, 3.14159265358979323846, -5.1677127800499700292,
                            2.5501640398773454438, -0.59926452932079207689, 0.082145886611128228796,
                            -0.0073704309457143503777, 0.00046630280576761256442,
                            -2.1915353447830215828e-05, 7.9520540014755127847e-07);
}

/// Stirling's series (DLMF 5.11.1) at 8 or above, where y + 8 stands for smaller arguments and
/// their product is divided by (5.5.1), below 1/2 after reflection (5.5.3). Both corrections are
/// one logarithm.
TAEDA_ALWAYS_INLINE float bounded_lgamma(float argument) {
  const double x = static_cast<double>(argument);
  const bool reflected = x < 0.5;
  const double y = reflected ? 1.0 - x : x;
  const bool small = y < 8.0;
  // y (y + 1) ... (y + 7), of products of pairs that are 7 apart in sum
  const double u = y * (y + 7.0);
  const double product = small ? u * (u + 6.0) * ((u + 10.0) * (u + 12.0)) : 1.0;
  const double z = small ? y + 8.0 : y, w = 1.0 / z, v = w * w;
  const double series = w * math::detail::poly(v, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680,
                                               1.0 / 1188, -691.0 / 360360, 1.0 / 156);
  const double stirling = (z - 0.5) * math::log(z) - z + (0.91893853320467274178 + series);
  const double r = x - math::detail::round_int(x).value;
  const double sine = math::detail::absolute(r * sin_pi_over(r));
  const double correction = math::log((reflected ? 3.14159265358979323846 * product : 1.0) /
                                      (reflected ? sine : product));
  const double result = correction + (reflected ? -stirling : stirling);
  return static_cast<float>((x == 1.0) | (x == 2.0) ? 0.0 : result);
}

}  // namespace taeda::inline v0_2::detail
