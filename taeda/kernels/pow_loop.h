// Powers of double without branches, for instruction sets with fused products; without these the
// digits that a power needs cost more than the C library's. See Note [Vector math] in math.h.
#pragma once

#include "taeda/kernels/math.h"

namespace taeda::inline v0_2::math {

namespace detail {

TAEDA_ALWAYS_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// A sum of two numbers of which the second has the digits that the first has no room for.
struct Wide {
  double high, low;
};

/// log2(x) of a positive finite x to 2^-64 of 1 and of itself: 2 / ln(2) atanh(s), s = f / (2 + f),
/// by s, s^3 / 3 and (atanh(s) - s - s^3 / 3) / s^5 of s^2.
TAEDA_ALWAYS_INLINE Wide wide_log2(double x) {
  const Split<double> m = split(x);
  const double f = m.fraction, sum = 2.0 + f, sum_rest = f - (sum - 2.0), inverse = 1.0 / sum;
  const double s = f * inverse, s_rest = fused(-s, sum_rest, fused(-s, sum, f)) * inverse;
  const double z = s * s, z_rest = fused(2.0 * s, s_rest, fused(s, s, -z));
  const double cube = s * z, cube_rest = fused(s, z, -cube) + fused(s, z_rest, s_rest * z);
  constexpr double kThird = 0.33333333333333333333;
  const double third = cube * kThird, third_rest = (fused(-3.0, third, cube) + cube_rest) * kThird;
  const double tail = cube * z *
                      poly(z, 0.199999999999999999, 0.142857142857146828, 0.111111111108281158,
                           0.0909090916765720154, 0.0769229748544772891, 0.0666740211911267226,
                           0.0585312427046119267, 0.0586152551404887646);
  const double most = s + third, rest = (third - (most - s)) + (s_rest + third_rest + tail);
  constexpr double kFactor = 2.885390081777926814, kFactorRest = 4.0710547481862066e-17;
  const double log = most * kFactor;
  const double log_rest = fused(most, kFactor, -log) + fused(most, kFactorRest, rest * kFactor);
  const double all = m.exponent + log, low = (log - (all - m.exponent)) + log_rest;
  const double rounded = all + low;
  return {rounded, low - (rounded - all)};
}

/// 2^(high + low) for high in [-1100, 1100] and a low beside it.
TAEDA_ALWAYS_INLINE double wide_exp2(double high, double low) {
  constexpr double kLn2 = 0.69314718055994530942, kLn2Rest = 2.3190468138462996e-17;
  const Rounded<double> n = round_int(high);
  const double fraction = high - n.value, r = fraction * kLn2;
  const double r_rest = fused(fraction, kLn2, -r) + fused(fraction, kLn2Rest, low * kLn2);
  const double t = r + r_rest;
  const double tail =
      t * t *
      (0.5 + t * poly(t, 0.166666666666666675, 0.0416666666666666672, 0.00833333333333006183,
                      0.00138888888888865525, 0.000198412698630536169, 0.000024801587317144499,
                      2.75572684599970648e-6, 2.75572829695499527e-7, 2.51003854955103191e-8,
                      2.09112366302615445e-9));
  const double most = 1.0 + r;
  return scale(most + ((r - (most - 1.0)) + (r_rest + tail)), n.bits);
}

/// |x| without its fraction.
TAEDA_ALWAYS_INLINE double whole_part(double a) {
  constexpr double kWhole = 4503599627370496.0;  // 2^52, from where on all numbers are whole
  const double rounded = (a + kWhole) - kWhole, below = rounded > a ? rounded - 1.0 : rounded;
  return a < kWhole ? below : a;
}

}  // namespace detail

namespace branchless {

/// |x|^y = 2^(y log2 |x|) in twice the digits, so that powers that are whole numbers are exact,
/// then C's rules for signs and the cases that are 1.
TAEDA_ALWAYS_INLINE double pow(double x, double y) {
  const double a = detail::absolute(x), b = detail::absolute(y);
  const detail::Wide log = detail::wide_log2(a);
  // A y of 2^70 takes every other x than 1 beyond the ends.
  const double bounded = detail::clamp(y, -0x1p70, 0x1p70), high = bounded * log.high;
  const double rest = detail::fused(bounded, log.low, detail::fused(bounded, log.high, -high));
  const double power = detail::clamp(high, -1100.0, 1100.0);
  double y_of_a = detail::wide_exp2(power, power == high ? rest : 0.0);
  // Of 0 and infinity, which have no logarithm.
  const bool rises = y > 0.0;
  y_of_a = a == 0.0 ? (rises ? 0.0 : detail::kInfinity<double>) : y_of_a;
  y_of_a = a == detail::kInfinity<double> ? (rises ? a : 0.0) : y_of_a;
  y_of_a = (a != a) | (y != y) ? a + y : y_of_a;
  const bool fraction = detail::whole_part(b) != b;
  const bool odd = !fraction & (detail::whole_part(0.5 * b) != 0.5 * b);
  const bool invalid = fraction & (x < 0.0) & (x > -detail::kInfinity<double>);
  const bool one = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (b == detail::kInfinity<double>));
  const double sign = odd ? x : 1.0, of_both = detail::with_sign_of(y_of_a, sign);
  const double result = invalid ? detail::kNan<double> : of_both;
  return one ? 1.0 : result;
}

}  // namespace branchless

}  // namespace taeda::inline v0_2::math
