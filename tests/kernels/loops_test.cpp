// Higher functions without branches against the series and integrals of the same functions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "taeda/kernels/bessel.h"
#include "taeda/kernels/bessel_loops.h"
#include "taeda/kernels/normal.h"
#include "taeda/kernels/normal_loops.h"

namespace taeda {
namespace {

namespace forms = math::branchless;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using OfOne = double (*)(double);

/// Numbers of all sizes from 1e-6 to `most`, of both signs or none below 0.
void expect_alike(const char* name, OfOne form, OfOne series, double least, double most,
                  double tolerance, bool oscillates = false) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> exponent(std::log(1e-6), std::log(most)), even(0, 1);
  for (int i = 0; i < 20000; ++i) {
    const double size = i % 2 ? std::exp(exponent(random)) : std::min(most, 30.0) * even(random);
    const double x = i % 3 == 0 && least < 0 ? -size : size;
    if (x < least) continue;
    const double want = series(x), got = form(x);
    if (std::isinf(want) || std::fabs(want) < 1e-300) {
      EXPECT_TRUE(want == got || std::fabs(got) < 1e-290 || std::fabs(got) > 1e290)
          << name << " of " << x << ": " << got << ", not " << want;
      continue;
    }
    const double scale = oscillates ? std::max(std::fabs(want), std::min(1.0, 1 / std::sqrt(size)))
                                    : std::fabs(want);
    ASSERT_NEAR(got, want, tolerance * scale) << name << " of " << x;
  }
}

TEST(BesselLoops, AreTheSeries) {
  using namespace math;
  const auto check = [](const char* name, OfOne form, OfOne series, double least = -700) {
    expect_alike(name, form, series, least, 700, 5e-15);
  };
  check("i0e", forms::scaled_bessel_i<0>, [](double x) { return scaled_bessel_i(0, x); });
  check("i1e", forms::scaled_bessel_i<1>, [](double x) { return scaled_bessel_i(1, x); });
  check("i0", forms::bessel_i<0>, [](double x) { return bessel_i(0, x); });
  check("i1", forms::bessel_i<1>, [](double x) { return bessel_i(1, x); });
  check(
      "k0", forms::bessel_k<0, false>, [](double x) { return bessel_k(0, x); }, 0);
  check(
      "k1", forms::bessel_k<1, false>, [](double x) { return bessel_k(1, x); }, 0);
  check(
      "k0e", forms::bessel_k<0, true>, [](double x) { return scaled_bessel_k(0, x); }, 0);
  check(
      "k1e", forms::bessel_k<1, true>, [](double x) { return scaled_bessel_k(1, x); }, 0);
}

TEST(BesselLoops, OscillatingOnesToo) {
  using namespace math;
  const auto check = [](const char* name, OfOne form, OfOne series, double least) {
    expect_alike(name, form, series, least, 1e5, 2e-14, true);
  };
  check(
      "j0", forms::bessel_j<0>, [](double x) { return bessel_j(0, x); }, -1e6);
  check(
      "j1", forms::bessel_j<1>, [](double x) { return bessel_j(1, x); }, -1e6);
  check(
      "y0", forms::bessel_y<0>, [](double x) { return bessel_y(0, x); }, 0);
  check(
      "y1", forms::bessel_y<1>, [](double x) { return bessel_y(1, x); }, 0);
}

/// Relative digits where a function is 0, of the zeros that are divided by.
TEST(BesselLoops, KeepDigitsBesideZeros) {
  EXPECT_NEAR(forms::bessel_j<0>(2.404825) / 2.8952639814303000795e-7, 1, 1e-14);
  EXPECT_NEAR(forms::bessel_j<0>(5.520078) / -3.7526550595949890341e-8, 1, 1e-14);
  EXPECT_NEAR(forms::bessel_j<1>(3.8317059) / 2.8276735404456248158e-8, 1, 1e-14);
}

TEST(BesselLoops, HaveTheEdges) {
  EXPECT_EQ(forms::scaled_bessel_i<0>(0.0), 1);
  EXPECT_EQ(forms::scaled_bessel_i<0>(-kInfinite), 0);
  EXPECT_EQ(forms::bessel_i<0>(-kInfinite), kInfinite);
  EXPECT_EQ(forms::bessel_i<1>(-kInfinite), -kInfinite);
  EXPECT_EQ(forms::bessel_i<1>(-2000), -kInfinite);
  EXPECT_EQ((forms::bessel_k<0, false>(0)), kInfinite);
  EXPECT_EQ((forms::bessel_k<1, true>(0)), kInfinite);
  EXPECT_EQ((forms::bessel_k<1, false>(kInfinite)), 0);
  EXPECT_TRUE(std::isnan(forms::bessel_k<0, true>(-1)));
  EXPECT_EQ(forms::bessel_j<0>(0), 1);
  EXPECT_EQ(forms::bessel_y<1>(0), -kInfinite);
  EXPECT_TRUE(std::isnan(forms::bessel_y<0>(-1)));
  for (const OfOne f : {&forms::bessel_i<0>, &forms::scaled_bessel_i<1>, &forms::bessel_k<0, false>,
                        &forms::bessel_k<1, true>, &forms::erfcx})
    EXPECT_TRUE(std::isnan(f(std::numeric_limits<double>::quiet_NaN())));
}

TEST(NormalLoops, AreTheIntegrals) {
  expect_alike("erfcx", forms::erfcx, math::erfcx, 0, 28, 5e-15);
  expect_alike("erfcx of negative numbers", forms::erfcx, math::erfcx, -26, 26, 2e-13);
  expect_alike("log_ndtr", forms::log_ndtr, math::log_ndtr, -38, 8, 5e-15);
  expect_alike("log_ndtr of large numbers", forms::log_ndtr, math::log_ndtr, 0, 36, 1e-12);
}

TEST(NormalLoops, QuantilesInvertTheDistribution) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> exponent(std::log(2e-19), 0);
  for (int i = 0; i < 20000; ++i) {
    const double small = std::exp(exponent(random));
    const double p = i % 2 ? small : 1 - small;
    if (!(p >= 2e-19 && p < 1)) continue;
    const double want = math::ndtri(p);
    ASSERT_NEAR(forms::ndtri(p), want, 2e-15 * std::max(1.0, std::fabs(want))) << p;
  }
  EXPECT_EQ(forms::ndtri(0.5), 0);
}

}  // namespace
}  // namespace taeda
