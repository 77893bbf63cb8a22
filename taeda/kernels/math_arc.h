// Arcus functions: a part of kernels/math.h, which includes it. See Note [Vector math] there.
#pragma once

#include <cmath>

#include "taeda/kernels/math_detail.h"

namespace taeda::inline v0_2::math {

namespace detail {

/// (atan(t) / t - 1) / t^2 by z = t^2 of t in [0, 1].
TAEDA_ALWAYS_INLINE float atan_tail(float z) {
  return poly(z, -0.333333f, 0.19998549f, -0.14264241f, 0.10952181f, -0.08403437f, 0.05795736f,
              -0.031177614f, 0.010914481f, -0.001793594f);
}
TAEDA_ALWAYS_INLINE double atan_tail(double z) {
  return poly(z, -0.3333333333333307, 0.1999999999995145, -0.1428571428257462, 0.11111111007013781,
              -0.09090907002800577, 0.07692279837324821, -0.06666404043206856, 0.05880527737475707,
              -0.052535182404367775, 0.047223212445499936, -0.042191766039920496,
              0.03664186643163543, -0.029903792650305468, 0.021984777482018707,
              -0.013900492828846733, 0.007196458229069526, -0.0028848965533678087,
              0.0008313145109077657, -0.00015215935487606215, 1.3224931494884055e-05);
}

/// pi in two parts.
template <class T>
struct Pi;
template <>
struct Pi<float> {
  static constexpr float high = 3.14159274f, low = -8.74227766e-8f;
};
template <>
struct Pi<double> {
  static constexpr double high = 3.14159265358979323846, low = 1.2246467991473532e-16;
};

/// (asin(t) / t - 1) / t^2 by z = t^2 of t in [0, 1/2].
TAEDA_ALWAYS_INLINE double asin_tail(double z) {
  return poly(z, 0.16666666666665408, 0.07500000000337015, 0.04464285682833146, 0.03038195913680184,
              0.022371758054540825, 0.01735970470262228, 0.013885236048936878, 0.012169207907913591,
              0.006527990892042538, 0.019528224185694023, -0.016224191684481477,
              0.031912230410706025);
}

TAEDA_ALWAYS_INLINE float asin_tail(float z) {
  return poly(z, 0.1666666f, 0.07500504f, 0.04451696f, 0.03180769f, 0.014438714f, 0.037516295f);
}

/// asin(|x|) = t + tail, or pi/2 less twice that where `large` is 1 and not 0.
template <class T>
struct Arc {
  T large, t, tail;
};
template <class T>
TAEDA_ALWAYS_INLINE Arc<T> arc(T x) {
  const T a = absolute(x);
  const bool large = a > T(0.5);
  const T z = large ? T(0.5) * (T(1) - a) : a * a, root = std::sqrt(z), t = large ? root : a;
  return {large ? T(1) : T(0), t, t * (z * asin_tail(z))};
}

}  // namespace detail

/// The angle of (x, y) by that of the smaller number over the larger one.
template <class T>
TAEDA_ALWAYS_INLINE T atan2(T y, T x) {
  const T a = detail::absolute(y), b = detail::absolute(x);
  const bool steep = a > b;
  const T large = steep ? a : b, small = steep ? b : a;
  const bool infinite = (small == detail::kInfinity<T>)&(large == small);
  const T ratio = small / (large == T(0) ? T(1) : large), t = infinite ? T(1) : ratio;
  const T z = t * t, flat = t + t * (z * detail::atan_tail(z));
  using Pi = detail::Pi<T>;
  const T first = steep ? T(0.5) * Pi::high + (T(0.5) * Pi::low - flat) : flat;
  const bool left = detail::with_sign_of(T(1), x) < T(0);  // -0, too
  return detail::with_sign_of(left ? Pi::high + (Pi::low - first) : first, y);
}

template <class T>
TAEDA_ALWAYS_INLINE T atan(T x) {
  const T a = detail::absolute(x);
  const bool steep = a > T(1);
  const T t = steep ? T(1) / a : a, z = t * t, flat = t + t * (z * detail::atan_tail(z));
  using Pi = detail::Pi<T>;
  return detail::with_sign_of(steep ? T(0.5) * Pi::high + (T(0.5) * Pi::low - flat) : flat, x);
}

template <class T>
TAEDA_ALWAYS_INLINE T asin(T x) {
  const detail::Arc<T> arc = detail::arc(x);
  using Pi = detail::Pi<T>;
  const T factor = T(1) - T(3) * arc.large, base = arc.large * (T(0.25) * Pi::high);
  const T low = base + (arc.large * (T(0.5) * Pi::low) + factor * arc.tail);
  return detail::with_sign_of((base + factor * arc.t) + low, x);
}

template <class T>
TAEDA_ALWAYS_INLINE T acos(T x) {
  const detail::Arc<T> arc = detail::arc(x);
  using Pi = detail::Pi<T>;
  const T sign = detail::with_sign_of(T(1), x), large = arc.large;
  const T turns = T(0.5) * (T(1) - sign * large), factor = sign * (T(3) * large - T(1));
  return turns * Pi::high + (turns * Pi::low + factor * (arc.t + arc.tail));
}

}  // namespace taeda::inline v0_2::math
