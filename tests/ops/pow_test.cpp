// Powers of double, which are loops of vectors where a processor has fused products: against long
// double, at C's edges, and where they are whole numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "tests/ops/tensor_values.h"
#include "tests/units_of_last_place.h"

namespace taeda {
namespace {

/// The largest error of powers of a list of pairs.
double worst_error(const std::vector<double>& x, const std::vector<double>& y) {
  const auto got = testing::values<double>(tensor(x, kDouble).pow(tensor(y, kDouble)));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i)
    worst = std::max(
        worst, testing::units_of_last_place(got[i], std::pow(static_cast<long double>(x[i]),
                                                             static_cast<long double>(y[i]))));
  return worst;
}

TEST(DoublePow, OrdinaryNumbersWithinOneUnit) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> even(0, 1);
  std::vector<double> x, y, wide, far;
  for (int i = 0; i < 20000; ++i) {
    x.push_back(10 * even(random));
    y.push_back(20 * even(random) - 10);
    // Up to both ends of what there are numbers for, of bases of all sizes and beside 1.
    wide.push_back(i % 2 ? std::exp(1400 * even(random) - 700) : 0.5 + even(random));
    far.push_back((1420 * even(random) - 710) / std::fabs(std::log(wide.back())));
  }
  EXPECT_LE(worst_error(x, y), 1);
  EXPECT_LE(worst_error(wide, far), 1.5);
}

TEST(DoublePow, EdgesAreThoseOfC) {
  constexpr double inf = HUGE_VAL;
  const double edges[] = {0.0,
                          -0.0,
                          1.0,
                          -1.0,
                          2.0,
                          -2.0,
                          3.0,
                          -3.0,
                          0.5,
                          -0.5,
                          1.5,
                          -2.5,
                          inf,
                          -inf,
                          std::nan(""),
                          5e-324,
                          -5e-324,
                          1e300,
                          -1e300,
                          9007199254740991.0,
                          -9007199254740991.0,
                          4503599627370497.0,
                          1 - 0x1p-53,
                          1 + 0x1p-52};
  std::vector<double> x, y;
  for (const double a : edges)
    for (const double b : edges) x.push_back(a), y.push_back(b);
  const auto got = testing::values<double>(tensor(x, kDouble).pow(tensor(y, kDouble)));
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::pow(x[i], y[i]);
    EXPECT_LE(testing::units_of_last_place(got[i], want), 1) << x[i] << " to the power of " << y[i];
    if (std::isnan(want)) continue;
    EXPECT_EQ(std::signbit(got[i]), std::signbit(want)) << x[i] << ", " << y[i];
  }
}

TEST(DoublePow, WholePowersOfWholeNumbersAreExact) {
  std::vector<double> x, y, want;
  for (double base = -60; base <= 60; ++base)
    for (double exponent = 0; exponent <= 20; ++exponent) {
      double power = 1;
      for (int i = 0; i < exponent; ++i) power *= base;
      if (std::fabs(power) > 9007199254740992.0) break;
      x.push_back(base), y.push_back(exponent), want.push_back(power);
    }
  EXPECT_EQ(testing::values<double>(tensor(x, kDouble).pow(tensor(y, kDouble))), want);
}

}  // namespace
}  // namespace taeda
