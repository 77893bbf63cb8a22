// Functions around the tails of the normal distribution, in double.
#pragma once

#include <cmath>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::math {

namespace detail {

constexpr double kSqrtHalf = 0.70710678118654752440;

/// erfcx for x >= 1: the trapezoidal rule for the integral of e^-t^2 / (t^2 + x^2), less what its
/// pole adds: C. Chiarella, A. Reichel, "On the evaluation of integrals related to the error
/// function" (1968).
inline TAEDA_HD double erfcx_integral(double x) {
  constexpr double kPi = 3.14159265358979323846, kStep = 0.5;
  const double square = x * x;
  double sum = 0.5 / square;
  for (int n = 1; n <= 13; ++n) {
    const double t = kStep * n;
    sum += std::exp(-t * t) / (t * t + square);
  }
  const double pole = x < 6 ? 2 * std::exp(square) / (1 - std::exp(2 * kPi / kStep * x)) : 0;
  return 2 * kStep / kPi * x * sum + pole;
}

}  // namespace detail

/// e^(x^2) erfc(x).
inline TAEDA_HD double erfcx(double x) {
  if (x < 1) return std::exp(x * x) * std::erfc(x);
  if (x > 1e150) return 0.56418958354775628695 / x;  // 1 / sqrt(pi)
  return detail::erfcx_integral(x);
}

/// The logarithm of the normal distribution function.
inline TAEDA_HD double log_ndtr(double x) {
  const double z = x * detail::kSqrtHalf;
  if (x < -1) return std::log(0.5 * erfcx(-z)) - z * z;
  return std::log1p(-0.5 * std::erfc(z));
}

/// The x whose normal distribution function is p: -inf for 0, inf for 1, NaN beyond.
///
/// For p <= 1/2 Newton's method on its logarithm, which is concave, from M. Abramowitz, I. Stegun,
/// "Handbook of Mathematical Functions" (1964), 26.2.22.
inline TAEDA_HD double ndtri(double p) {
  if (p == 0) return -double(INFINITY);
  if (p == 1) return double(INFINITY);
  if (!(p > 0 && p < 1)) return double(NAN);
  if (p > 0.5) return -ndtri(1 - p);
  const double log = std::log(p), t = std::sqrt(-2 * log);
  double x = (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) - t;
  constexpr double kSqrtHalfPi = 1.25331413731550025121;
  for (int step = 0; step < 4; ++step)
    x -= (log_ndtr(x) - log) * kSqrtHalfPi * erfcx(-x * detail::kSqrtHalf);
  return x;
}

}  // namespace taeda::inline v0_2::math
