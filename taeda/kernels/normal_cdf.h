// The distribution function of the normal distribution, which GELU and its gradient multiply with.
#pragma once

#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::math {

#if !defined(__CUDA_ARCH__)

/// Phi(x) to 1e-7, and its tail on the left to one part in ten thousand down to x = -6, where it
/// becomes 0.
///
/// Phi(-a) = 2^-(1 + g(a)); g(a) / a is a minimax polynomial (Lawson's iteration, 40 digits)
/// weighted by what an error of g makes of Phi. 2^r as in `exp2`; one loop-friendly exponential,
/// where 1 + erf takes that and a second polynomial, and cancels on the left.
TAEDA_ALWAYS_INLINE float normal_cdf(float x) {
  const float a = detail::absolute(x);
  const float g = a * detail::poly(a, 1.15110564f, 0.4592036339f, 0.05251008287f, -0.007078006412f,
                                   0.000136428078f, 0.0001972932544f, -4.713164591e-5f,
                                   4.956044511e-6f, -2.07042713e-7f);
  const detail::Rounded<float> n = detail::round_int(-g);
  const float r = -g - n.value;
  const float p = detail::poly(r, 0.693147207f, 0.240226514f, 0.0555032712f, 0.00961800282f,
                               0.00134005377f, 0.000154766098f);
  const float tail = (1.0f + r * p) * detail::power_of_two(detail::wrapping_sub(n.bits, 1));
  const float h = a > 6.0f ? 0.0f : tail;
  return x > 0.0f ? 1.0f - h : h;
}

/// (1 + erf(x / sqrt(2))) / 2
TAEDA_ALWAYS_INLINE double normal_cdf(double x) {
  return 0.5 * (1.0 + erf(x * 0.70710678118654752440));
}

#else

inline TAEDA_HD float normal_cdf(float x) { return 0.5f * (1.0f + erf(x * 0.70710678f)); }
inline TAEDA_HD double normal_cdf(double x) {
  return 0.5 * (1.0 + erf(x * 0.70710678118654752440));
}

#endif

}  // namespace taeda::math
