// Elementary functions for kernels: taeda::math::exp(x), log(x), ... for float and double.
//
// Note [Vector math]
// On the host the functions are branch-free scalar code, so that a plain loop over them vectorises
// for every instruction set; on a device they are the toolkit's. Errors, checked against long
// double in tests/kernels/math_test.cpp: at most 2.5 ulp for float and for the double functions
// written out here, 4 for erfc; pow of double is the C library's. Infinities, NaNs, signed zeros
// and subnormal arguments and results are as in C. Coefficients are minimax fits (Remez exchange,
// 50 digits) of the quotient named beside each. sin, cos and tan have a bound on their argument:
// see `kTrigBound`.
#pragma once

#include <cmath>
#include <cstdint>

#include "taeda/base/macros.h"
#include "taeda/kernels/math_detail.h"

#if defined(__CUDA_ARCH__)
#include "taeda/kernels/math_device.h"
#else

#include "taeda/kernels/math_arc.h"
#include "taeda/kernels/math_double.h"

namespace taeda::inline v0_2::math {

/// e^x = 2^n e^r; (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2.
TAEDA_ALWAYS_INLINE float exp(float x) {
  x = detail::clamp(x, -104.0f, 89.0f);
  const detail::Rounded<float> n = detail::round_int(x * 1.44269504f);
  const float r = detail::reduce_ln2(x, n.value);
  const float p =
      detail::poly(r, 0.50000001f, 0.166665183f, 0.0416662024f, 0.00836895388f, 0.00139507017f);
  return detail::scale(1.0f + (r + r * r * p), n.bits);
}

/// 2^x; (2^r - 1) / r on |r| <= 1/2.
TAEDA_ALWAYS_INLINE float exp2(float x) {
  x = detail::clamp(x, -151.0f, 128.5f);
  const detail::Rounded<float> n = detail::round_int(x);
  const float r = x - n.value;
  const float p = detail::poly(r, 0.693147207f, 0.240226514f, 0.0555032712f, 0.00961800282f,
                               0.00134005377f, 0.000154766098f);
  return detail::scale(1.0f + r * p, n.bits);
}

/// e^x - 1 = 2^n (e^r - 1) + (2^n - 1).
TAEDA_ALWAYS_INLINE float expm1(float x) {
  const float y = detail::clamp(x, -18.0f, 89.0f);
  const detail::Rounded<float> n = detail::round_int(y * 1.44269504f);
  const float r = detail::reduce_ln2(y, n.value);
  const float p = r + r * r *
                          detail::poly(r, 0.500000004f, 0.166666664f, 0.0416663598f, 0.00833338948f,
                                       0.00139407199f, 0.000198459438f);
  const float half_scale =
      detail::power_of_two(n.bits - 1);  // 2^n may overflow when the result does not
  return detail::with_sign_of(2.0f * (half_scale * p + (half_scale - 0.5f)), x);
}

namespace detail {

/// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1]; (log(1 + f) - f + f^2 / 2) / f^3.
TAEDA_ALWAYS_INLINE float log1p_tail(float f) {
  const float p = poly(f, 0.333333317f, -0.250008211f, 0.200012283f, -0.166233578f, 0.14201731f,
                       -0.131601514f, 0.12761736f, -0.0763476538f);
  return f * f * (f * p - 0.5f);
}

}  // namespace detail

TAEDA_ALWAYS_INLINE float log(float x) {
  const detail::Split<float> m = detail::split(x);
  const float y = m.exponent * -2.12194440e-4f + detail::log1p_tail(m.fraction);
  return detail::log_edges(x, m.exponent * 0.693359375f + (m.fraction + y));
}

TAEDA_ALWAYS_INLINE float log2(float x) {
  const detail::Split<float> m = detail::split(x);
  const float tail = detail::log1p_tail(m.fraction);
  // log2(e) = 1.4375 + 0.0051950...: the first product is nearly exact.
  const float y = m.fraction * 0.00519504089f + tail * 1.44269504f;
  return detail::log_edges(x, m.exponent + (m.fraction * 1.4375f + y));
}

TAEDA_ALWAYS_INLINE float log10(float x) {
  const detail::Split<float> m = detail::split(x);
  const float tail = detail::log1p_tail(m.fraction);
  // log10(e) = 0.4375 - 0.0032055..., log10(2) = 0.30078125 + 0.00024874...
  const float y = tail * 0.434294482f - m.fraction * 0.00320551810f + m.exponent * 0.000248745664f;
  return detail::log_edges(x, m.exponent * 0.30078125f + (m.fraction * 0.4375f + y));
}

/// log(1 + x): the rounding error of 1 + x goes into the fraction.
TAEDA_ALWAYS_INLINE float log1p(float x) {
  const float u = 1.0f + x;
  const detail::Split<float> m = detail::split(u);
  const float lost = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  const float f =
      m.fraction +
      lost * detail::power_of_two(-static_cast<int32_t>(detail::clamp(m.exponent, -24.0f, 64.0f)));
  const float y = m.exponent * -2.12194440e-4f + detail::log1p_tail(f);
  const float result = detail::log_edges(u, m.exponent * 0.693359375f + (f + y));
  return detail::absolute(x) < 1e-10f ? x : result;
}

/// (e^2|x| - 1) / (e^2|x| + 1) with the sign of x.
TAEDA_ALWAYS_INLINE float tanh(float x) {
  const float a = detail::clamp(detail::absolute(x), 0.0f, 9.2f);  // tanh(9.2) rounds to 1
  const float e = expm1(2.0f * a);
  return detail::with_sign_of(e / (e + 2.0f), x);
}

/// 1 / (1 + e^-x) without overflow on either side.
template <class T>
TAEDA_ALWAYS_INLINE T sigmoid(T x) {
  const T e = exp(-detail::absolute(x));
  return (x >= T(0) ? T(1) : e) / (T(1) + e);
}

/// The same in float with fewer steps: 2^n of n <= 0 takes one multiplication by a normal number
/// and one by 2^-25, which rounds what is subnormal once.
TAEDA_ALWAYS_INLINE float sigmoid(float x) {
  const float a = -detail::absolute(x), y = a < -104.0f ? -104.0f : a;
  const detail::Rounded<float> n = detail::round_int(y * 1.44269504f);
  const float r = detail::reduce_ln2(y, n.value);
  const float p =
      detail::poly(r, 0.50000001f, 0.166665183f, 0.0416662024f, 0.00836895388f, 0.00139507017f);
  const float e = (1.0f + (r + r * r * p)) *
                  detail::power_of_two(detail::wrapping_sub(n.bits, -25)) * 2.98023224e-8f;
  return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

/// erf(x) / x - 1 over x^2 for small x; 1 - e^(-x q(x)) with q = -log(erfc(x)) / x above.
TAEDA_ALWAYS_INLINE float erf(float x) {
  const float a = detail::clamp(detail::absolute(x), 0.0f, 3.95f);
  const float z = a * a;
  const float near =
      a + a * detail::poly(z, 0.128379167f, -0.376126334f, 0.1128369f, -0.0268590926f,
                           0.00520027683f, -0.000813416114f, 8.33410084e-5f);
  const float q = detail::poly(a, 1.12866076f, 0.63509714f, 0.106334557f, -0.023854002f,
                               0.00369005874f, -0.000335645805f, 1.26408485e-5f);
  const float far = 1.0f - exp(-a * q);
  return detail::with_sign_of(a < 0.92f ? near : far, x);
}

/// e^(-x^2) times a polynomial in (x - 3) / (x + 3), in double: the square needs the digits.
TAEDA_ALWAYS_INLINE float erfc(float x) {
  const double a = detail::clamp(static_cast<double>(detail::absolute(x)), 0.0, 10.2);
  const double t = (a - 3.0) / (a + 3.0);
  const double p = detail::poly(t, 0.17900115112315, -0.32623356143417, 0.24560381210631,
                                -0.15011587884039, 0.071665588840919, -0.024393254532979,
                                0.0042710376417788, 0.00071243280972024, -0.00060235711545741,
                                3.0890732759158e-5, 6.6300405598603e-5, 4.9036712014175e-6);
  const double y = exp(-a * a) * p;
  return static_cast<float>(x < 0.0f ? 2.0 - y : y);
}

/// Largest |x| whose sine, cosine and tangent these functions can take. Loops send larger
/// arguments, infinities and NaNs to the C library, a block at a time (`any_beyond`).
constexpr float kTrigBound = 1e6f;

TAEDA_ALWAYS_INLINE float sin_bounded(float x) {
  const detail::Quadrant q = detail::quadrant(x);
  const double y = (q.turns & 1) ? q.cos : q.sin;
  return static_cast<float>((q.turns & 2) ? -y : y);
}

TAEDA_ALWAYS_INLINE float cos_bounded(float x) {
  const detail::Quadrant q = detail::quadrant(x);
  const double y = (q.turns & 1) ? q.sin : q.cos;
  return static_cast<float>(((q.turns + 1) & 2) ? -y : y);
}

TAEDA_ALWAYS_INLINE float tan_bounded(float x) {
  const detail::Quadrant q = detail::quadrant(x);
  return static_cast<float>(((q.turns & 1) ? -q.cos : q.sin) / ((q.turns & 1) ? q.sin : q.cos));
}

TAEDA_ALWAYS_INLINE float sinh(float x) {
  const double w = x, e = exp(w);
  const double near = w + w * w * w * (1.0 / 6.0);
  return static_cast<float>(detail::absolute(w) < 1e-3 ? near : 0.5 * (e - 1.0 / e));
}
TAEDA_ALWAYS_INLINE float cosh(float x) {
  const double e = exp(static_cast<double>(x));
  return static_cast<float>(0.5 * (e + 1.0 / e));
}

namespace detail {

/// The binary logarithm of a number that is not negative, to 1e-11 of it: powers multiply the
/// error. log2(1 + f) = 2 atanh(s) / ln(2), s = f / (2 + f).
TAEDA_ALWAYS_INLINE double log2_wide(float x) {
  const Split<float> m = split(x);
  const auto f = static_cast<double>(m.fraction);
  const double s = f / (2.0 + f), z = s * s;
  const double p = poly(z, 2.8853900817779268, 0.961796679192751, 0.5770828521864249,
                        0.4117063325431909, 0.34021857045898773);
  const double y = static_cast<double>(m.exponent) + s * p;
  // No equality with zero, which the compiler would make a branch of.
  const double below = x < 1e-45f ? -kInfinity<double> : y;
  return x < kInfinity<float> ? below : static_cast<double>(x);
}

}  // namespace detail

/// |x|^y = 2^(y log2 |x|) in double, so that powers that are whole numbers are exact, then C's
/// rules for signs and the cases that are 1.
TAEDA_ALWAYS_INLINE float pow(float x, float y) {
  const double power =
      detail::clamp(static_cast<double>(y) * detail::log2_wide(detail::absolute(x)), -151.0, 128.5);
  const detail::Rounded<double> n = detail::round_int(power);
  const double r = power - n.value;
  const double two_to_r =
      1.0 + r * detail::poly(r, 0.6931471805599453, 0.24022650695910072, 0.05550410866482158,
                             0.009618129107628477, 0.0013333558146428443, 0.0001540353039338161,
                             1.5252733804059841e-05, 1.3215486790144307e-06);
  const auto magnitude = static_cast<float>(two_to_r * detail::power_of_two(n.bits));
  const float whole = std::trunc(y), half = 0.5f * y;
  const bool fraction = whole != y, odd = !fraction & (std::trunc(half) != half);
  const bool invalid = fraction & (x < 0.0f) & (x > -detail::kInfinity<float>);
  const bool one = (y == 0.0f) | (x == 1.0f) |
                   ((x == -1.0f) & (detail::absolute(y) == detail::kInfinity<float>));
  const float sign = odd ? x : 1.0f, power_of_both = detail::with_sign_of(magnitude, sign);
  const float result = invalid ? detail::kNan<float> : power_of_both;
  return one ? 1.0f : result;
}

inline double pow(double x, double y) { return std::pow(x, y); }

}  // namespace taeda::inline v0_2::math

#include "taeda/kernels/math_erf.h"

#endif  // defined(__CUDA_ARCH__)

namespace taeda::inline v0_2::math {

/// Any argument, without vectorisation.
template <class T>
TAEDA_HD T sin(T x) {
  return std::sin(x);
}
template <class T>
TAEDA_HD T cos(T x) {
  return std::cos(x);
}
template <class T>
TAEDA_HD T tan(T x) {
  return std::tan(x);
}
template <class T>
TAEDA_HD T sqrt(T x) {
  return std::sqrt(x);
}
template <class T>
TAEDA_HD T fabs(T x) {
  return std::fabs(x);
}

}  // namespace taeda::inline v0_2::math
