// The regularised incomplete gamma functions and Hurwitz' zeta function, in double. Formulas are
// numbered as in the Digital Library of Mathematical Functions (dlmf.nist.gov, "DLMF").
#pragma once

#include <cmath>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::math {

namespace detail {

/// log |Gamma(a)| for a above 0.
inline TAEDA_HD double log_gamma(double a) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return std::lgamma(a);
#else
  int sign;  // std::lgamma writes it to a global variable, which threads would share
  return ::lgamma_r(a, &sign);
#endif
}

/// x^a e^-x / Gamma(a + 1). For large a by Stirling's series (DLMF 5.11.1) and the distance of x
/// and a, so that large logarithms do not cancel.
inline TAEDA_HD double gamma_density(double a, double x) {
  if (a < 20) return std::exp(a * std::log(x) - x - log_gamma(a + 1));
  const double mu = (x - a) / a, z = 1 / (a * a);
  const double stirling = (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z / 1680))) / a;
  return std::exp(a * (std::log1p(mu) - mu) - stirling) / std::sqrt(6.28318530717958647693 * a);
}

/// P(a, x) for x < a + 1 (DLMF 8.11.4).
inline TAEDA_HD double lower_gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (int n = 1; n < 20000 && term > 1e-17 * sum; ++n) sum += term *= x / (a + n);
  return gamma_density(a, x) * sum;
}

/// Q(a, x) for x >= a + 1: the continued fraction of DLMF 8.9.2, evaluated by W. Lentz' method.
inline TAEDA_HD double upper_gamma_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, value = d;
  for (int n = 1; n < 20000; ++n) {
    const double factor = -n * (n - a);
    b += 2;
    d = factor * d + b;
    c = b + factor / c;
    d = 1 / (d == 0 ? kTiny : d);
    if (c == 0) c = kTiny;
    value *= c * d;
    if (std::fabs(c * d - 1) < 1e-16) break;
  }
  return gamma_density(a, x) * a * value;
}

/// Q(a, x) for a above a million: N. Temme's uniform expansion (DLMF 8.12.4), whose first two terms
/// are exact to a double's digits there. c_0 and c_1 by their Taylor series at 0: where these would
/// not do, the result is 0 or 1.
inline TAEDA_HD double upper_gamma_uniform(double a, double x) {
  const double mu = (x - a) / a, square = 2 * (mu - std::log1p(mu));
  const double eta = mu < 0 ? -std::sqrt(square) : std::sqrt(square);
  if (eta * std::sqrt(a) > 40) return 0;
  if (eta * std::sqrt(a) < -40) return 1;
  const double c0 = -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864));
  const double c1 = -1.0 / 540 - eta / 288;
  return 0.5 * std::erfc(eta * std::sqrt(0.5 * a)) +
         std::exp(-0.5 * a * square) / std::sqrt(6.28318530717958647693 * a) * (c0 + c1 / a);
}

}  // namespace detail

/// P(a, x) (`lower`) or Q(a, x) = 1 - P(a, x); NaN for negative numbers and for (0, 0).
inline TAEDA_HD double incomplete_gamma(double a, double x, bool lower) {
  if (!(a >= 0) || !(x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x)))
    return double(NAN);
  if (a == 0 || std::isinf(x)) return lower ? 1 : 0;
  if (x == 0 || std::isinf(a)) return lower ? 0 : 1;
  if (a > 1e6) {
    const double upper = detail::upper_gamma_uniform(a, x);
    return lower ? 1 - upper : upper;
  }
  // Each by the one that is exact where it is small.
  if (x < a + 1) {
    const double p = detail::lower_gamma_series(a, x);
    return lower ? p : 1 - p;
  }
  const double q = detail::upper_gamma_fraction(a, x);
  return lower ? 1 - q : q;
}

namespace detail {

/// q^-s, of a small whole s, as derivatives of digamma have, by products.
inline TAEDA_HD double falling_power(double q, double s) {
  if (s > 16 || s != std::floor(s)) return std::pow(q, -s);
  double power = 1, factor = q;
  for (int n = static_cast<int>(s); n > 0; n /= 2, factor *= factor)
    if (n % 2 == 1) power *= factor;
  return 1 / power;
}

/// zeta(s, q) for s > 1 and q > 0: terms up to q + 12, then the sum of Euler and Maclaurin (DLMF
/// 25.11.28, B_2k / (2k)! up to k = 8).
inline TAEDA_HD double zeta_of_positive(double s, double q) {
  double sum = 0;
  for (int n = 0; n < 12; ++n, q += 1) {
    const double term = falling_power(q, s);
    sum += term;
    if (term < 1e-18 * sum) return sum;
  }
  const double power = falling_power(q, s);
  sum += power * q / (s - 1) + 0.5 * power;
  constexpr double kBernoulli[] = {1.0 / 12,          -1.0 / 720,
                                   1.0 / 30240,       -1.0 / 1209600,
                                   1.0 / 47900160,    -691.0 / 1307674368000,
                                   1.0 / 74724249600, -3617.0 / 10670622842880000};
  double term = power / q * s;
  for (int k = 0; k < 8; ++k) {
    sum += kBernoulli[k] * term;
    term *= (s + 2 * k + 1) * (s + 2 * k + 2) / (q * q);
  }
  return sum;
}

}  // namespace detail

/// Hurwitz' zeta function, the sum of (q + k)^-s over k = 0, 1, ...: inf for s = 1 and at whole q
/// <= 0, NaN for s < 1 and, where q < 0, for an s that is not whole.
inline TAEDA_HD double hurwitz_zeta(double s, double q) {
  if (s == 1) return double(INFINITY);
  if (!(s > 1) || std::isnan(q)) return double(NAN);
  if (q > 0) return std::isinf(q) ? 0 : detail::zeta_of_positive(s, q);
  const double below = std::floor(q);
  if (q == below) return double(INFINITY);
  if (s != std::floor(s)) return double(NAN);
  // The terms below 0 are those of two other sums, mirrored.
  const double f = q - below;
  const double mirrored = detail::zeta_of_positive(s, 1 - f) - detail::zeta_of_positive(s, 1 - q);
  const bool odd = std::fmod(s, 2) == 1;
  return (odd ? -mirrored : mirrored) + detail::zeta_of_positive(s, f);
}

}  // namespace taeda::inline v0_2::math
