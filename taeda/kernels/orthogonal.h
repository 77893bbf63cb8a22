// Orthogonal polynomials by their recurrences (DLMF table 18.9.1; those of Chebyshev's third and
// fourth kind 18.9.1 with 18.7.5), in double.
#pragma once

#include <cmath>
#include <cstdint>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::math {

enum class Polynomial : int32_t {
  ChebyshevT,
  ChebyshevU,
  ChebyshevV,
  ChebyshevW,
  HermiteH,
  HermiteHe,
  LaguerreL,
  LegendreP,
};

namespace detail {

/// Chebyshev's polynomials between -1 and 1 as functions of the angle (DLMF 18.5.1 to 18.5.4), for
/// degrees whose recurrence would be long.
inline TAEDA_HD double chebyshev_of_angle(Polynomial which, double n, double x) {
  const double angle = std::acos(x);
  switch (which) {
    case Polynomial::ChebyshevT: return std::cos(n * angle);
    case Polynomial::ChebyshevU: return std::sin((n + 1) * angle) / std::sin(angle);
    case Polynomial::ChebyshevV: return std::cos((n + 0.5) * angle) / std::cos(0.5 * angle);
    default: return std::sin((n + 0.5) * angle) / std::sin(0.5 * angle);
  }
}

inline TAEDA_HD double first_degree(Polynomial which, double x) {
  switch (which) {
    case Polynomial::ChebyshevU:
    case Polynomial::HermiteH: return 2 * x;
    case Polynomial::ChebyshevV: return 2 * x - 1;
    case Polynomial::ChebyshevW: return 2 * x + 1;
    case Polynomial::LaguerreL: return 1 - x;
    default: return x;
  }
}

/// The polynomial of degree n + 1 from those of degree n and n - 1.
inline TAEDA_HD double next_degree(Polynomial which, double n, double x, double here,
                                   double before) {
  switch (which) {
    case Polynomial::HermiteH: return 2 * (x * here - n * before);
    case Polynomial::HermiteHe: return x * here - n * before;
    case Polynomial::LaguerreL: return ((2 * n + 1 - x) * here - n * before) / (n + 1);
    case Polynomial::LegendreP: return ((2 * n + 1) * x * here - n * before) / (n + 1);
    default: return 2 * x * here - before;
  }
}

}  // namespace detail

/// The polynomial of degree n (cut to a whole number) at x: 0 for a negative n, NaN once numbers
/// have become too large to go on and for degrees from 2^31 on, whose recurrence has no end worth
/// waiting for.
inline TAEDA_HD double polynomial(Polynomial which, double x, double n) {
  n = std::trunc(n);
  if (!(n >= 0)) return n < 0 ? 0 : n;
  if (n >= 0x1p31) return double(NAN);
  if (n == 0) return 1;
  constexpr double kLongRecurrence = 32;
  if (which <= Polynomial::ChebyshevW && n > kLongRecurrence && std::fabs(x) < 1)
    return detail::chebyshev_of_angle(which, n, x);
  double before = 1, here = detail::first_degree(which, x);
  for (double k = 1; k < n && !std::isnan(here); k += 1) {
    const double next = detail::next_degree(which, k, x, here, before);
    before = here;
    here = next;
  }
  return here;
}

}  // namespace taeda::inline v0_2::math
