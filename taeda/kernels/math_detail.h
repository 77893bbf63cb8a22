// Building blocks of kernels/math.h: rounding, scaling and splitting by the bits of a number,
// without branches. See Note [Vector math] there.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::math::detail {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

TAEDA_ALWAYS_INLINE int32_t to_bits(float x) { return __builtin_bit_cast(int32_t, x); }
TAEDA_ALWAYS_INLINE int64_t to_bits(double x) { return __builtin_bit_cast(int64_t, x); }
TAEDA_ALWAYS_INLINE float from_bits(int32_t x) { return __builtin_bit_cast(float, x); }
TAEDA_ALWAYS_INLINE double from_bits(int64_t x) { return __builtin_bit_cast(double, x); }

TAEDA_ALWAYS_INLINE float absolute(float x) { return __builtin_fabsf(x); }
TAEDA_ALWAYS_INLINE double absolute(double x) { return __builtin_fabs(x); }
TAEDA_ALWAYS_INLINE float with_sign_of(float x, float sign) { return __builtin_copysignf(x, sign); }
TAEDA_ALWAYS_INLINE double with_sign_of(double x, double sign) {
  return __builtin_copysign(x, sign);
}

/// Lets NaN pass.
template <class T>
TAEDA_ALWAYS_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// c0 + c1 x + c2 x^2 + ..., by Horner's rule.
template <class T>
TAEDA_ALWAYS_INLINE T poly(T, T c0) {
  return c0;
}
template <class T, class... Rest>
TAEDA_ALWAYS_INLINE T poly(T x, T c0, Rest... rest) {
  return c0 + x * poly(x, rest...);
}

/// An integer n as a number and as an integer.
template <class T>
struct Rounded;
template <>
struct Rounded<float> {
  float value;
  int32_t bits;
};
template <>
struct Rounded<double> {
  double value;
  int64_t bits;
};

/// Nearest integer of |x| < 2^22 (2^51): adding 1.5 * 2^23 pushes the fraction out of the number.
TAEDA_ALWAYS_INLINE Rounded<float> round_int(float x) {
  constexpr float magic = 12582912.0f;
  const float t = x + magic;
  return {t - magic, to_bits(t) - to_bits(magic)};
}
TAEDA_ALWAYS_INLINE Rounded<double> round_int(double x) {
  constexpr double magic = 6755399441055744.0;
  const double t = x + magic;
  return {t - magic, to_bits(t) - to_bits(magic)};
}

/// x - n ln(2); the first product is exact.
TAEDA_ALWAYS_INLINE float reduce_ln2(float x, float n) {
  return (x - n * 0.693359375f) - n * -2.12194440e-4f;
}
TAEDA_ALWAYS_INLINE double reduce_ln2(double x, double n) {
  return (x - n * 6.93147180369123816490e-1) - n * 1.90821492927058770002e-10;
}

/// Differences that may wrap around: what is made of NaN and infinity is thrown away later.
TAEDA_ALWAYS_INLINE int32_t wrapping_sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
TAEDA_ALWAYS_INLINE int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// 2^n for a normal result.
TAEDA_ALWAYS_INLINE float power_of_two(int32_t n) {
  return from_bits(wrapping_sub(n, int32_t{-127}) << 23);
}
TAEDA_ALWAYS_INLINE double power_of_two(int64_t n) {
  return from_bits(wrapping_sub(n, int64_t{-1023}) << 52);
}

/// x 2^n in two steps, so that results may be subnormal or overflow.
TAEDA_ALWAYS_INLINE float scale(float x, int32_t n) {
  const int32_t half = n >> 1;
  return x * power_of_two(half) * power_of_two(wrapping_sub(n, half));
}
TAEDA_ALWAYS_INLINE double scale(double x, int64_t n) {
  // No 64-bit arithmetic shift before AVX-512: shift the biased number.
  const auto half = static_cast<int64_t>((static_cast<uint64_t>(n) + 4096) >> 1) - 2048;
  return x * power_of_two(half) * power_of_two(wrapping_sub(n, half));
}

/// x = 2^exponent (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2)). For positive finite x.
template <class T>
struct Split {
  T fraction, exponent;
};

TAEDA_ALWAYS_INLINE Split<float> split(float x) {
  constexpr int32_t kRootHalf = 0x3f3504f3;
  const bool tiny = x < 1.17549435e-38f;
  const int32_t offset = wrapping_sub(to_bits(tiny ? x * 8388608.0f : x), kRootHalf);
  const int32_t k = offset >> 23;
  const float m = from_bits((offset & 0x7fffff) + kRootHalf);
  return {m - 1.0f, static_cast<float>(k) - (tiny ? 23.0f : 0.0f)};
}

TAEDA_ALWAYS_INLINE Split<double> split(double x) {
  constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  const bool tiny = x < 2.2250738585072014e-308;
  // 2048 exponents are added, so that the shift need not keep a sign.
  const uint64_t offset =
      static_cast<uint64_t>(to_bits(tiny ? x * 4503599627370496.0 : x)) - kRootHalf;
  const auto biased = static_cast<int64_t>((offset + (uint64_t{2048} << 52)) >> 52 & 0xfff);
  const double k = from_bits(biased | 0x4330000000000000) - (4503599627370496.0 + 2048.0);
  const auto m = from_bits(static_cast<int64_t>(offset & 0xfffffffffffff) + kRootHalf);
  return {m - 1.0, k - (tiny ? 52.0 : 0.0)};
}

/// Sine and cosine of x - turns * pi/2.
struct Quadrant {
  double sin, cos;
  int64_t turns;
};

/// For |x| <= 1e6: turns < 2^20 times the 33 leading bits of pi/2 is exact.
TAEDA_ALWAYS_INLINE Quadrant quadrant(double x) {
  const Rounded<double> n = round_int(x * 0.63661977236758134308);
  const double r = (x - n.value * 1.57079632673412561417) - n.value * 6.07710050650619224932e-11;
  const double z = r * r;
  const double s = poly(z, -0.1666666664142845, 0.008333329362486806, -0.0001983932719849553,
                        2.718237812829563e-6);
  const double c = poly(z, 0.0416666666224811, -0.001388888372290495, 2.479951182050869e-5,
                        -2.720955124913861e-7);
  return {r * (1.0 + z * s), 1.0 - 0.5 * z + z * z * c, n.bits};
}

}  // namespace taeda::inline v0_2::math::detail
