// Elementary functions of double: a part of kernels/math.h, which includes it and has exp and log.
// See Note [Vector math] there.
#pragma once

#include <cmath>

#include "taeda/kernels/math_detail.h"

namespace taeda::inline v0_2::math {

namespace detail {

/// (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2.
TAEDA_ALWAYS_INLINE double exp_tail(double r) {
  return poly(r, 0.5, 0.16666666666666684, 0.0416666666666667242, 0.00833333333331661839,
              0.0013888888888858557, 0.000198412698973619287, 0.0000248015873735699943,
              2.75572339292409847e-6, 2.75572334735170279e-7, 2.5112348604125086e-8,
              2.0926915511638681e-9);
}

/// log(1 + f) for f in [sqrt(1/2) - 1, sqrt(2) - 1] by 2 atanh(s), s = f / (2 + f): what to add to
/// f.
TAEDA_ALWAYS_INLINE double log1p_tail(double f) {
  const double s = f / (2.0 + f), z = s * s;
  const double p =
      poly(z, 0.666666666666666609, 0.40000000000006287, 0.28571428569072958, 0.222222226487540314,
           0.18181775508093162, 0.153870976745536011, 0.132499614094469909, 0.132527610137405557);
  const double half = 0.5 * f * f;
  return s * (half + z * p) - half;
}

/// (e^x - 1) / 4, which does not overflow where (e^x - 1) / 2 is finite.
TAEDA_ALWAYS_INLINE double quarter_expm1(double x) {
  const double y = clamp(x, -38.0, 710.5);
  const Rounded<double> n = round_int(y * 1.4426950408889634074);
  const double r = reduce_ln2(y, n.value), p = r + r * r * exp_tail(r);
  const double quarter = power_of_two(wrapping_sub(n.bits, int64_t{2}));
  return quarter * p + (quarter - 0.25);
}

/// Below, a function that is x + O(x^2) is x.
TAEDA_ALWAYS_INLINE bool is_tiny(double x) { return absolute(x) < 1e-20; }

/// a - b as the nearest double and the rest.
struct Difference {
  double value, rest;
};
TAEDA_ALWAYS_INLINE Difference difference(double a, double b) {
  const double value = a - b, lost = value - a;
  return {value, (a - (value - lost)) - (b + lost)};
}

/// Sine and cosine of x - turns * pi/2 for |x| <= 1e6: pi/2 in parts of 33 bits, whose products
/// with turns < 2^20 are exact, and what is lost between them.
TAEDA_ALWAYS_INLINE Quadrant exact_quadrant(double x) {
  const Rounded<double> n = round_int(x * 0.63661977236758134308);
  const Difference first = difference(x - n.value * 1.57079632673412561417e+00,
                                      n.value * 6.07710050630396597660e-11),
                   second = difference(first.value, n.value * 2.02226624871116645580e-21);
  const double rest = (first.rest + second.rest) - n.value * 8.47842766036889956997e-32;
  const double r = second.value + rest, low = (second.value - r) + rest, z = r * r;
  const double s = poly(z, 0.008333333333322113, -0.00019841269829584869, 2.7557313619691517e-06,
                        -2.5050747487506063e-08, 1.5896213667420998e-10);
  const double c = poly(z, 0.041666666666666595, -0.001388888888887305, 2.4801587288846493e-05,
                        -2.75573141777456e-07, 2.087570062540096e-09, -1.13585250299711e-11);
  const double half = 0.5 * z, one = 1.0 - half;
  return {r + (low + z * (r * (-0.1666666666666663 + z * s) - 0.5 * low)),
          one + (((1.0 - one) - half) + (z * z * c - r * low)), n.bits};
}

/// Results of a logarithm that the formula does not give: log(0), log(inf), log of negative and
/// NaN.
template <class T>
TAEDA_ALWAYS_INLINE T log_edges(T x, T y) {
  y = x == T(0) ? -kInfinity<T> : y;
  y = x < T(0) ? kNan<T> : y;
  return x < kInfinity<T> ? y : x;  // +inf and NaN are their own logarithms; -inf was caught above
}

}  // namespace detail

TAEDA_ALWAYS_INLINE double exp(double x) {
  x = detail::clamp(x, -746.0, 710.0);
  const detail::Rounded<double> n = detail::round_int(x * 1.4426950408889634074);
  const double r = detail::reduce_ln2(x, n.value);
  return detail::scale(1.0 + (r + r * r * detail::exp_tail(r)), n.bits);
}

/// 2^x = e^(r ln 2) 2^n.
TAEDA_ALWAYS_INLINE double exp2(double x) {
  x = detail::clamp(x, -1080.0, 1025.0);
  const detail::Rounded<double> n = detail::round_int(x);
  const double r = (x - n.value) * 0.69314718055994530942;
  return detail::scale(1.0 + (r + r * r * detail::exp_tail(r)), n.bits);
}

TAEDA_ALWAYS_INLINE double expm1(double x) {
  const double y = 4.0 * detail::quarter_expm1(x);
  return detail::is_tiny(x) ? x : y;
}

TAEDA_ALWAYS_INLINE double log(double x) {
  const detail::Split<double> m = detail::split(x);
  const double y = m.exponent * 1.90821492927058770002e-10 + detail::log1p_tail(m.fraction);
  return detail::log_edges(x, m.exponent * 6.93147180369123816490e-1 + (m.fraction + y));
}

/// As those of float in kernels/math.h.
TAEDA_ALWAYS_INLINE double log2(double x) {
  const detail::Split<double> m = detail::split(x);
  const double tail = detail::log1p_tail(m.fraction);
  const double y = m.fraction * 0.00519504088896340736 + tail * 1.4426950408889634074;
  return detail::log_edges(x, m.exponent + (m.fraction * 1.4375 + y));
}
TAEDA_ALWAYS_INLINE double log10(double x) {
  const detail::Split<double> m = detail::split(x);
  const double tail = detail::log1p_tail(m.fraction);
  const double y = tail * 0.43429448190325182765 - m.fraction * 0.00320551809674817235 +
                   m.exponent * 0.00024874566398119521;
  return detail::log_edges(x, m.exponent * 0.30078125 + (m.fraction * 0.4375 + y));
}
TAEDA_ALWAYS_INLINE double log1p(double x) {
  const double u = 1.0 + x;
  const detail::Split<double> m = detail::split(u);
  const double lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  const detail::Rounded<double> n = detail::round_int(detail::clamp(m.exponent, -64.0, 64.0));
  const double f =
      m.fraction + lost * detail::power_of_two(detail::wrapping_sub(int64_t{0}, n.bits));
  const double y = m.exponent * 1.90821492927058770002e-10 + detail::log1p_tail(f);
  const double result = detail::log_edges(u, m.exponent * 6.93147180369123816490e-1 + (f + y));
  return detail::is_tiny(x) ? x : result;
}

/// (e^2|x| - 1) / (e^2|x| + 1), (e^|x| - e^-|x|) / 2 and (e^|x| + e^-|x|) / 2 by e^|x| - 1.
TAEDA_ALWAYS_INLINE double tanh(double x) {
  const double a = detail::clamp(detail::absolute(x), 0.0, 20.0);  // tanh(20) rounds to 1
  const double e = 4.0 * detail::quarter_expm1(2.0 * a);
  return detail::is_tiny(x) ? x : detail::with_sign_of(e / (e + 2.0), x);
}
TAEDA_ALWAYS_INLINE double sinh(double x) {
  const double half = 2.0 * detail::quarter_expm1(detail::absolute(x));
  const double y = half + half / (2.0 * half + 1.0);
  return detail::is_tiny(x) ? x
                            : detail::with_sign_of(half == detail::kInfinity<double> ? half : y, x);
}
TAEDA_ALWAYS_INLINE double cosh(double x) {
  const double half = 2.0 * detail::quarter_expm1(detail::absolute(x));
  return half + (0.5 + 0.5 / (2.0 * half + 1.0));
}

/// log((1 + |x|) / (1 - |x|)) / 2.
TAEDA_ALWAYS_INLINE double atanh(double x) {
  const double a = detail::absolute(x), y = 0.5 * log1p(2.0 * a / (1.0 - a));
  return detail::is_tiny(x) ? x : detail::with_sign_of(y, x);
}
/// The same quotient as 2^n (1 + s) / (1 - s) with a small s, whose logarithm is 2 atanh(s).
TAEDA_ALWAYS_INLINE float atanh(float x) {
  const double a = detail::absolute(static_cast<double>(x)), p = 1.0 + a, q = 1.0 - a;
  const uint64_t ratio =
      static_cast<uint64_t>(detail::to_bits(p)) - static_cast<uint64_t>(detail::to_bits(q));
  const auto n = static_cast<int64_t>((ratio + (uint64_t{1} << 51)) >> 52);
  const double turns = detail::from_bits(n | 0x4330000000000000) - 4503599627370496.0;
  const double scaled = q * detail::power_of_two(n), s = (p - scaled) / (p + scaled), z = s * s;
  const double tail = detail::poly(z, 0.3333333335517511, 0.199999905533085356,
                                   0.14286815292982943, 0.110589310741109022, 0.101653584601499335);
  const double y = turns * 0.34657359027997265471 + (s + s * z * tail);
  const double edge = a <= 1.0 ? detail::kInfinity<double> : detail::kNan<double>;
  const double inner = a < 1e-4 ? a : y;
  return detail::with_sign_of(static_cast<float>(a < 1.0 ? inner : edge), x);
}

/// Squares that would overflow or vanish are those of numbers that are 2^600 times as small or
/// large.
TAEDA_ALWAYS_INLINE double hypot(double x, double y) {
  const double a = detail::absolute(x), b = detail::absolute(y), large = a > b ? a : b;
  const int64_t n = large > 0x1p500 ? -600 : large < 0x1p-500 ? 600 : 0;
  const double scale = detail::power_of_two(n), p = a * scale, q = b * scale;
  const double length = std::sqrt(p * p + q * q) * detail::power_of_two(-n);
  return (a == detail::kInfinity<double>) | (b == detail::kInfinity<double>)
             ? detail::kInfinity<double>
             : length;
}
TAEDA_ALWAYS_INLINE float hypot(float x, float y) {
  const double a = x, b = y;
  const auto length = static_cast<float>(std::sqrt(a * a + b * b));
  return (detail::absolute(x) == detail::kInfinity<float>) |
                 (detail::absolute(y) == detail::kInfinity<float>)
             ? detail::kInfinity<float>
             : length;
}

TAEDA_ALWAYS_INLINE double sin_bounded(double x) {
  const detail::Quadrant q = detail::exact_quadrant(x);
  const double y = (q.turns & 1) ? q.cos : q.sin, sine = (q.turns & 2) ? -y : y;
  return detail::is_tiny(x) ? x : sine;
}
TAEDA_ALWAYS_INLINE double cos_bounded(double x) {
  const detail::Quadrant q = detail::exact_quadrant(x);
  const double y = (q.turns & 1) ? q.sin : q.cos;
  return ((q.turns + 1) & 2) ? -y : y;
}
TAEDA_ALWAYS_INLINE double tan_bounded(double x) {
  const detail::Quadrant q = detail::exact_quadrant(x);
  const double tangent = ((q.turns & 1) ? -q.cos : q.sin) / ((q.turns & 1) ? q.sin : q.cos);
  return detail::is_tiny(x) ? x : tangent;
}

}  // namespace taeda::inline v0_2::math
