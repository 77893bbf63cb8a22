// The elementary functions against long double arithmetic, over all floats and at their edges.
#include "taeda/kernels/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "taeda/kernels/normal_cdf.h"

namespace taeda {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// |got - want| in units of the last place of `want` rounded to float.
double ulps(float got, long double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e9;
  int exponent;
  std::frexp(std::max(std::fabs(rounded), std::numeric_limits<float>::min()), &exponent);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, exponent - 24));
}

struct Function {
  const char* name;
  float (*got)(float);
  double (*want)(double);
  float limit = kInf;
};

const Function kFunctions[] = {
    {"exp", [](float x) { return math::exp(x); }, [](double x) { return std::exp(x); }},
    {"exp2", [](float x) { return math::exp2(x); }, [](double x) { return std::exp2(x); }},
    {"expm1", [](float x) { return math::expm1(x); }, [](double x) { return std::expm1(x); }},
    {"log", [](float x) { return math::log(x); }, [](double x) { return std::log(x); }},
    {"log2", [](float x) { return math::log2(x); }, [](double x) { return std::log2(x); }},
    {"log10", [](float x) { return math::log10(x); }, [](double x) { return std::log10(x); }},
    {"log1p", [](float x) { return math::log1p(x); }, [](double x) { return std::log1p(x); }},
    {"tanh", [](float x) { return math::tanh(x); }, [](double x) { return std::tanh(x); }},
    {"sigmoid", [](float x) { return math::sigmoid(x); },
     [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"erf", [](float x) { return math::erf(x); }, [](double x) { return std::erf(x); }},
    {"erfc", [](float x) { return math::erfc(x); }, [](double x) { return std::erfc(x); }},
    {"asin", [](float x) { return math::asin(x); }, [](double x) { return std::asin(x); }},
    {"acos", [](float x) { return math::acos(x); }, [](double x) { return std::acos(x); }},
    {"atan", [](float x) { return math::atan(x); }, [](double x) { return std::atan(x); }},
    {"sinh", [](float x) { return math::sinh(x); }, [](double x) { return std::sinh(x); }},
    {"cosh", [](float x) { return math::cosh(x); }, [](double x) { return std::cosh(x); }},
    {"sin", [](float x) { return math::sin_bounded(x); }, [](double x) { return std::sin(x); },
     math::kTrigBound},
    {"cos", [](float x) { return math::cos_bounded(x); }, [](double x) { return std::cos(x); },
     math::kTrigBound},
    {"tan", [](float x) { return math::tan_bounded(x); }, [](double x) { return std::tan(x); },
     math::kTrigBound},
};

class FloatMath : public ::testing::TestWithParam<Function> {};

TEST_P(FloatMath, WithinTwoAndAHalfUlps) {
  const Function& f = GetParam();
  double worst = 0;
  float where = 0;
  for (uint64_t i = 0; i <= 0xffffffffu; i += 30011) {
    const auto x = __builtin_bit_cast(float, static_cast<uint32_t>(i));
    if (!(std::fabs(x) <= f.limit)) continue;
    const double error = ulps(f.got(x), f.want(x));
    if (error > worst) worst = error, where = x;
  }
  EXPECT_LE(worst, 2.5) << f.name << "(" << where << ") = " << f.got(where) << ", want "
                        << f.want(where);
}

TEST_P(FloatMath, EdgesAreThoseOfC) {
  const Function& f = GetParam();
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, 1e-45f, -1e-45f, kInf, -kInf, std::nanf("")}) {
    if (!(std::fabs(x) <= f.limit)) continue;
    const float got = f.got(x), want = static_cast<float>(f.want(x));
    EXPECT_LE(ulps(got, want), 1) << f.name << "(" << x << ") = " << got << ", want " << want;
    if (std::isnan(want)) continue;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << f.name << "(" << x << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Math, FloatMath, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Math, NormalDistribution) {
  double worst = 0, tail = 0;
  for (float x = -12; x <= 12; x += 1.7e-4f) {
    const double want = 0.5 * std::erfc(-static_cast<double>(x) * M_SQRT1_2);
    const double error = std::fabs(math::normal_cdf(x) - want);
    worst = std::max(worst, error);
    if (x > -6) tail = std::max(tail, error / want);
  }
  EXPECT_LE(worst, 1e-7);
  EXPECT_LE(tail, 1e-4);
  EXPECT_EQ(math::normal_cdf(0.0f), 0.5f);
  EXPECT_EQ(math::normal_cdf(kInf), 1.0f);
  EXPECT_EQ(math::normal_cdf(-kInf), 0.0f);
  EXPECT_EQ(math::normal_cdf(1e38f), 1.0f);
  EXPECT_TRUE(std::isnan(math::normal_cdf(std::nanf(""))));
}

TEST(Math, PowerIsThatOfC) {
  const float bases[] = {0.0f,  -0.0f, 1.0f,   -1.0f, 2.0f,  -2.0f,        0.5f,
                         -0.3f, 1e30f, -1e30f, kInf,  -kInf, std::nanf("")};
  const float exponents[] = {0.0f, -0.0f, 1.0f,  -1.0f,       2.0f, 3.0f,  -3.0f,
                             0.5f, -2.5f, 1e30f, 16777217.0f, kInf, -kInf, std::nanf("")};
  for (float x : bases)
    for (float y : exponents) {
      const float got = math::pow(x, y);
      const double want = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(ulps(got, want), 1)
          << "pow(" << x << ", " << y << ") = " << got << ", want " << want;
      if (std::isnan(want)) continue;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << "pow(" << x << ", " << y << ")";
    }
}

TEST(Math, DoubleExpAndLogWithinOneUlp) {
  double worst_exp = 0, worst_log = 0;
  const auto error = [](double got, long double want) {
    const auto rounded = static_cast<double>(want);
    return static_cast<double>(
        std::fabs((got - want) / (std::nextafter(rounded, HUGE_VAL) - rounded)));
  };
  for (int i = 0; i <= 100000; ++i) {
    const double x = -740 + i * 0.01448;
    worst_exp = std::max(worst_exp, error(math::exp(x), std::exp(static_cast<long double>(x))));
    const double y = std::ldexp(1 + i * 1e-5, i % 2000 - 1000);
    worst_log = std::max(worst_log, error(math::log(y), std::log(static_cast<long double>(y))));
  }
  EXPECT_LE(worst_exp, 1.5);
  EXPECT_LE(worst_log, 1.5);
  EXPECT_EQ(math::exp(-HUGE_VAL), 0);
  EXPECT_EQ(math::exp(HUGE_VAL), HUGE_VAL);
  EXPECT_EQ(math::log(0.0), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(math::log(-1.0)));
}

}  // namespace
}  // namespace taeda
