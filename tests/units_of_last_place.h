// How far a computed number is from the true one.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace taeda::testing {

/// |got - want| in units of the last place of `want` rounded to T; 1e9 where one of them is not
/// finite and the other is not the same.
template <class T>
double units_of_last_place(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  int exponent;
  std::frexp(std::max(std::fabs(rounded), std::numeric_limits<T>::min()), &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

}  // namespace taeda::testing
