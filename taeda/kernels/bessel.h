// Bessel functions of orders 0 and 1, and Airy's function Ai, in double: each by the series or the
// integral that converges fast where it is used. Formulas are numbered as in the Digital Library of
// Mathematical Functions (dlmf.nist.gov, "DLMF").
#pragma once

#include <cmath>
#include <cstdint>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::math {

namespace detail {

constexpr double kEulerGamma = 0.57721566490153286061;
constexpr double kPi = 3.14159265358979323846;

/// The sums of the terms with an even and with an odd k of a_k(nu) / x^k (DLMF 10.17.1), up to the
/// smallest; signs alternate within each if `alternate`.
struct HankelSums {
  double even = 1, odd = 0;

  TAEDA_HD HankelSums(double order_squared, double x, bool alternate) {
    double term = 1, last = 1;
    for (int k = 1; k < 60; ++k) {
      const double odd_number = 2.0 * k - 1;
      term *= (4 * order_squared - odd_number * odd_number) / (8 * k * x);
      const double size = std::fabs(term);
      if (size > last || size < 1e-18) return;
      last = size;
      const double sign = alternate && (k / 2) % 2 == 1 ? -1 : 1;
      (k % 2 == 0 ? even : odd) += sign * term;
    }
  }
};

}  // namespace detail

/// e^-|x| I_order(x), order 0 or 1.
inline TAEDA_HD double scaled_bessel_i(int order, double x) {
  const double a = std::fabs(x), sign = order == 1 && x < 0 ? -1 : 1;
  if (a > 20) {  // DLMF 10.40.1
    const detail::HankelSums sums(order, a, false);
    const double spread = std::sqrt(2 * detail::kPi * a);
    return sign * (sums.even - sums.odd) / spread;
  }
  // DLMF 10.25.2
  const double z = 0.25 * a * a;
  double term = order == 0 ? 1 : 0.5 * a, sum = term;
  for (int k = 1; k < 80 && term > 1e-18 * sum; ++k) sum += term *= z / (double(k) * (k + order));
  return sign * std::exp(-a) * sum;
}

/// I_order(x), order 0 or 1.
inline TAEDA_HD double bessel_i(int order, double x) {
  const double half = std::exp(0.5 * std::fabs(x));  // e^x may overflow where the result does not
  if (std::isinf(half)) return order == 1 && x < 0 ? -half : half;
  return scaled_bessel_i(order, x) * half * half;
}

namespace detail {

/// e^x K_order(x) for 1 <= x <= 20: the integral of DLMF 10.32.9 by the trapezoidal rule, which for
/// it is exact to 1e-16 with this step.
inline TAEDA_HD double scaled_bessel_k_integral(double order, double x) {
  constexpr double kStep = 0.125;
  double sum = 0.5;
  for (int i = 1; i < 64; ++i) {
    const double t = kStep * i, s = std::sinh(0.5 * t), exponent = 2 * x * s * s;
    if (exponent > 45) break;
    sum += std::exp(-exponent) * std::cosh(order * t);
  }
  return kStep * sum;
}

}  // namespace detail

/// e^x K_order(x), order 0 or 1: inf at 0, NaN below.
inline TAEDA_HD double scaled_bessel_k(int order, double x) {
  if (x == 0) return double(INFINITY);
  if (!(x > 0)) return double(NAN);
  if (x > 20) {  // DLMF 10.40.2
    const detail::HankelSums sums(order, x, false);
    return std::sqrt(0.5 * detail::kPi / x) * (sums.even + sums.odd);
  }
  if (x >= 1) return detail::scaled_bessel_k_integral(order, x);
  // DLMF 10.31.1 and 10.31.2; psi(k + 1) = -gamma + 1 + 1/2 + ... + 1/k
  const double z = 0.25 * x * x, log = std::log(0.5 * x);
  double power = 1, psi = -detail::kEulerGamma, k0 = 0, k1 = 0;
  for (int k = 0; k < 20; ++k) {
    k0 += power * (psi - log);
    k1 += power / (k + 1) * (log - psi - 0.5 / (k + 1));
    psi += 1.0 / (k + 1);
    power *= z / ((k + 1.0) * (k + 1.0));
  }
  return std::exp(x) * (order == 0 ? k0 : 1 / x + 0.5 * x * k1);
}

/// K_order(x), order 0 or 1.
inline TAEDA_HD double bessel_k(int order, double x) {
  return scaled_bessel_k(order, x) * std::exp(-x);
}

/// J_0, J_1, Y_0 and Y_1 of one number above 0.
struct BesselPairs {
  double j0, j1, y0, y1;

  TAEDA_HD explicit BesselPairs(double x) {
    if (x < 1e-8)
      near_zero(x);
    else if (x <= 25)
      by_recurrence(x);
    else
      by_asymptotic_series(x);
  }

 private:
  TAEDA_HD void near_zero(double x) {
    j0 = 1;
    j1 = 0.5 * x;
    y0 = 2 / detail::kPi * (std::log(0.5 * x) + detail::kEulerGamma);
    y1 = -2 / (detail::kPi * x);
  }

  /// The orders downwards (J. Miller; DLMF 10.74(iv)) with 1 = J_0 + 2 J_2 + 2 J_4 + ...
  /// (10.12.4), and Neumann's series for Y_0 and Y_1: M. Abramowitz, I. Stegun, "Handbook of
  /// Mathematical Functions" (1964), 9.1.88 and 9.1.89.
  TAEDA_HD void by_recurrence(double x) {
    int order = 2 * (static_cast<int>(x) + 10);
    double above = 0, here = 1e-250, norm = 0, sum0 = 0, sum1 = 0;
    for (; order > 0; --order) {
      const double half = order / 2, sign = (order / 2) % 2 == 0 ? 1 : -1;
      if (order % 2 == 0) {
        norm += 2 * here;
        sum0 += sign * here / half;
      } else if (order > 1) {
        sum1 += sign * order * here / (half * (half + 1));
      }
      const double below = 2 * order / x * here - above;
      above = here;
      here = below;
    }
    const double scale = 1 / (norm + here), log = std::log(0.5 * x) + detail::kEulerGamma;
    j0 = here * scale;
    j1 = above * scale;
    y0 = 2 / detail::kPi * (log * j0 - 2 * sum0 * scale);
    y1 = 2 / detail::kPi * ((log - 1) * j1 - j0 / x - sum1 * scale);
  }

  /// DLMF 10.17.3 and 10.17.4; cos and sin of x - pi / 4 and x - 3 pi / 4 by those of x.
  TAEDA_HD void by_asymptotic_series(double x) {
    const double amplitude = 1 / std::sqrt(detail::kPi * x), s = std::sin(x), c = std::cos(x);
    if (std::isinf(x)) {
      j0 = j1 = y0 = y1 = 0;
      return;
    }
    const detail::HankelSums a(0, x, true), b(1, x, true);
    j0 = amplitude * ((c + s) * a.even - (s - c) * a.odd);
    y0 = amplitude * ((s - c) * a.even + (c + s) * a.odd);
    j1 = amplitude * ((s - c) * b.even + (s + c) * b.odd);
    y1 = amplitude * (-(s + c) * b.even + (s - c) * b.odd);
  }
};

/// J_order(x), order 0 or 1.
inline TAEDA_HD double bessel_j(int order, double x) {
  const double a = std::fabs(x);
  if (!(a > 0)) return a == 0 ? (order == 0 ? 1 : 0) : x;
  const BesselPairs pairs(a);
  return order == 0 ? pairs.j0 : x < 0 ? -pairs.j1 : pairs.j1;
}

/// Y_order(x), order 0 or 1: -inf at 0, NaN below.
inline TAEDA_HD double bessel_y(int order, double x) {
  if (x == 0) return -double(INFINITY);
  if (!(x > 0)) return double(NAN);
  const BesselPairs pairs(x);
  return order == 0 ? pairs.y0 : pairs.y1;
}

namespace detail {

/// Ai for x in [-9, 1.35]: steps of Taylor's series along Ai'' = x Ai from 0 (DLMF 9.2.1; 9.2.3 and
/// 9.2.4 for the numbers there).
inline TAEDA_HD double airy_by_steps(double x) {
  double y = 0.35502805388781723926, slope = -0.25881940379280679841, at = 0;
  const int steps = static_cast<int>(std::fabs(x) / 0.75) + 1;
  const double h = x / steps;
  for (int step = 0; step < steps; ++step, at += h) {
    double two_before = 0, before = y, now = slope, power = h, sum = y + slope * h,
           sum_slope = slope;
    for (int n = 0; n < 26; ++n) {  // the coefficient of h^(n + 2)
      const double next = (at * before + two_before) / ((n + 1.0) * (n + 2.0));
      sum_slope += (n + 2) * next * power;
      power *= h;
      sum += next * power;
      two_before = before;
      before = now;
      now = next;
    }
    y = sum;
    slope = sum_slope;
  }
  return y;
}

/// DLMF 9.7.9 with u_k of 9.7.2, for x < -9.
inline TAEDA_HD double airy_oscillating(double x) {
  const double zeta = 2.0 / 3 * -x * std::sqrt(-x), angle = zeta - 0.25 * kPi;
  double term = 1, even = 1, odd = 0, last = 1;
  for (int k = 1; k < 40; ++k) {
    term *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2.0 * k - 1)) / zeta;
    if (term > last || term < 1e-18) break;
    last = term;
    (k % 2 == 0 ? even : odd) += (k / 2) % 2 == 0 ? term : -term;
  }
  return (std::cos(angle) * even + std::sin(angle) * odd) /
         (std::sqrt(kPi) * std::sqrt(std::sqrt(-x)));
}

}  // namespace detail

/// Ai(x).
inline TAEDA_HD double airy_ai(double x) {
  if (std::isinf(x)) return 0;
  if (x < -9) return detail::airy_oscillating(x);
  if (std::isnan(x)) return x;
  if (x < 1.35) return detail::airy_by_steps(x);
  const double zeta = 2.0 / 3 * x * std::sqrt(x);
  if (zeta <= 20)  // DLMF 9.6.2
    return std::sqrt(x / 3) / detail::kPi * std::exp(-zeta) *
           detail::scaled_bessel_k_integral(1.0 / 3, zeta);
  const detail::HankelSums sums(1.0 / 9, zeta, false);
  return std::exp(-zeta) * (sums.even + sums.odd) /
         (2 * std::sqrt(detail::kPi) * std::sqrt(std::sqrt(x)));
}

}  // namespace taeda::inline v0_2::math
