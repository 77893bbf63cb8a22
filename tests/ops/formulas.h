// Formulas that the references of several operations use.
#pragma once

#include <algorithm>
#include <cmath>

namespace taeda::testing {

inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// NaN stays NaN.
inline double clamped(double x, double low, double high) {
  return std::isnan(x) ? x : std::min(std::max(x, low), high);
}

}  // namespace taeda::testing
