// The elementary functions against long double arithmetic, over all floats and at their edges.
#include "taeda/kernels/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "taeda/kernels/normal_cdf.h"
#include "taeda/kernels/pointwise/special.h"
#include "tests/units_of_last_place.h"

namespace taeda {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

using testing::units_of_last_place;

/// The inverse of erf by Newton's method on long double, from a number that is nearly it.
long double inverse_erf(long double x) {
  const long double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(HUGE_VALL, x) : std::nanl("");
  auto y = static_cast<long double>(math::erfinv(static_cast<double>(a)));
  for (int step = 0; step < 3; ++step) {
    const long double far = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    y -= far * std::exp(y * y) * 0.886226925452758013649L;
  }
  return std::copysign(y, x);
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
    {"atanh", [](float x) { return math::atanh(x); }, [](double x) { return std::atanh(x); }},
    {"erfinv", [](float x) { return math::erfinv(x); },
     [](double x) { return static_cast<double>(inverse_erf(x)); }},
    {"sinh", [](float x) { return math::sinh(x); }, [](double x) { return std::sinh(x); }},
    {"cosh", [](float x) { return math::cosh(x); }, [](double x) { return std::cosh(x); }},
    {"sin", [](float x) { return math::sin_bounded(x); }, [](double x) { return std::sin(x); },
     math::kTrigBound},
    {"cos", [](float x) { return math::cos_bounded(x); }, [](double x) { return std::cos(x); },
     math::kTrigBound},
    {"tan", [](float x) { return math::tan_bounded(x); }, [](double x) { return std::tan(x); },
     math::kTrigBound},
    {"lgamma", [](float x) { return detail::bounded_lgamma(x); },
     [](double x) { return std::lgamma(x); }, 1048576.0f},
    {"digamma", [](float x) { return detail::bounded_digamma(x); },
     [](double x) { return Digamma()(x); }, 1048576.0f},
};

class FloatMath : public ::testing::TestWithParam<Function> {};

TEST_P(FloatMath, WithinTwoAndAHalfUlps) {
  const Function& f = GetParam();
  double worst = 0;
  float where = 0;
  for (uint64_t i = 0; i <= 0xffffffffu; i += 30011) {
    const auto x = __builtin_bit_cast(float, static_cast<uint32_t>(i));
    if (!(std::fabs(x) <= f.limit)) continue;
    const double error = units_of_last_place<float>(f.got(x), f.want(x));
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
    EXPECT_LE(units_of_last_place<float>(got, want), 1)
        << f.name << "(" << x << ") = " << got << ", want " << want;
    if (std::isnan(want)) continue;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << f.name << "(" << x << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Math, FloatMath, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

struct DoubleFunction {
  const char* name;
  double (*got)(double);
  long double (*want)(long double);
  double limit = HUGE_VAL;
  double ulps = 2.5;
};

const DoubleFunction kDoubleFunctions[] = {
    {"exp", [](double x) { return math::exp(x); }, std::exp},
    {"exp2", [](double x) { return math::exp2(x); }, std::exp2},
    {"expm1", [](double x) { return math::expm1(x); }, std::expm1},
    {"log", [](double x) { return math::log(x); }, std::log},
    {"log2", [](double x) { return math::log2(x); }, std::log2},
    {"log10", [](double x) { return math::log10(x); }, std::log10},
    {"log1p", [](double x) { return math::log1p(x); }, std::log1p},
    {"tanh", [](double x) { return math::tanh(x); }, std::tanh},
    {"sinh", [](double x) { return math::sinh(x); }, std::sinh},
    {"cosh", [](double x) { return math::cosh(x); }, std::cosh},
    {"asin", [](double x) { return math::asin(x); }, std::asin},
    {"acos", [](double x) { return math::acos(x); }, std::acos},
    {"atan", [](double x) { return math::atan(x); }, std::atan},
    {"atanh", [](double x) { return math::atanh(x); }, std::atanh},
    {"erf", [](double x) { return math::erf(x); }, std::erf},
    {"erfc", [](double x) { return math::erfc(x); }, std::erfc, HUGE_VAL, 4},
    {"erfinv", [](double x) { return math::erfinv(x); }, inverse_erf},
    {"sin", [](double x) { return math::sin_bounded(x); }, std::sin, math::kTrigBound},
    {"cos", [](double x) { return math::cos_bounded(x); }, std::cos, math::kTrigBound},
    {"tan", [](double x) { return math::tan_bounded(x); }, std::tan, math::kTrigBound},
};

class DoubleMath : public ::testing::TestWithParam<DoubleFunction> {};

TEST_P(DoubleMath, WithinAFewUlps) {
  const DoubleFunction& f = GetParam();
  double worst = 0, where = 0;
  const auto check = [&](double x) {
    if (!(std::fabs(x) <= f.limit)) return;
    const double error = units_of_last_place<double>(f.got(x), f.want(static_cast<long double>(x)));
    if (error > worst) worst = error, where = x;
  };
  uint64_t bits = 1;
  for (int i = 0; i < 60000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const uint64_t mixed = bits ^ bits >> 29;
    const double u = static_cast<double>(static_cast<int64_t>(mixed)) * 0x1p-63;
    for (const double x : {__builtin_bit_cast(double, mixed), u, 40 * u, 720 * u, 1e6 * u,
                           1 + 1e-3 * u, 1e-9 * u, 1 - 1e-12 * std::fabs(u)})
      check(x);
  }
  EXPECT_LE(worst, f.ulps) << f.name << "(" << where << ") = " << f.got(where);
}

TEST_P(DoubleMath, EdgesAreThoseOfC) {
  const DoubleFunction& f = GetParam();
  constexpr double inf = HUGE_VAL;
  for (const double x : {0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-310, inf, -inf, std::nan(""),
                         709.9, 710.47, 710.48, -745.2, 1024.0, -1074.5, 1e300, M_PI}) {
    if (!(std::fabs(x) <= f.limit)) continue;
    const double got = f.got(x);
    const long double want = f.want(static_cast<long double>(x));
    EXPECT_LE(units_of_last_place<double>(got, want), 2.5) << f.name << "(" << x << ") = " << got;
    if (std::isnan(want)) continue;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << f.name << "(" << x << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(Math, DoubleMath, ::testing::ValuesIn(kDoubleFunctions),
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

/// A function of two numbers is C's, in double and rounded, to the bound of all.
template <class F>
void expect_that_of_c(const char* name, float got, F c, float x, float y) {
  const double want = c(static_cast<double>(x), static_cast<double>(y));
  EXPECT_LE(units_of_last_place<float>(got, want), 2.5)
      << name << "(" << x << ", " << y << ") = " << got << ", want " << want;
  if (std::isnan(want)) return;
  EXPECT_EQ(std::signbit(got), std::signbit(want)) << name << "(" << x << ", " << y << ")";
}

TEST(Math, PowerIsThatOfC) {
  const float bases[] = {0.0f,  -0.0f, 1.0f,   -1.0f, 2.0f,  -2.0f,        0.5f,
                         -0.3f, 1e30f, -1e30f, kInf,  -kInf, std::nanf("")};
  const float exponents[] = {0.0f, -0.0f, 1.0f,  -1.0f,       2.0f, 3.0f,  -3.0f,
                             0.5f, -2.5f, 1e30f, 16777217.0f, kInf, -kInf, std::nanf("")};
  for (float x : bases)
    for (float y : exponents)
      expect_that_of_c(
          "pow", math::pow(x, y), [](double a, double b) { return std::pow(a, b); }, x, y);
}

TEST(Math, WholePowersOfWholeNumbersAreExact) {
  for (float x = 1; x <= 60; ++x)
    for (float y = 0; std::pow(x, y) <= 16777216; y += 1) {
      EXPECT_EQ(math::pow(x, y), std::pow(x, y)) << x << " to the power of " << y;
      if (x == 1) break;
    }
}

/// Powers and angles of many ordinary numbers, the powers up to both ends of float's range.
TEST(Math, FunctionsOfTwoNumbersWithinTwoAndAHalfUlps) {
  double worst_power = 0, worst_angle = 0, worst_length = 0;
  for (uint32_t i = 0; i < 300000; ++i) {
    const double u = (i * 2654435761u) / 4294967296.0, v = (i * 2246822519u) / 4294967296.0;
    const auto x = static_cast<float>(std::exp2(u * 40 - 20));
    const auto y = static_cast<float>((v * 260 - 130) / (std::fabs(u * 40 - 20) + 0.1));
    const double power = std::pow(static_cast<double>(x), static_cast<double>(y));
    worst_power = std::max(worst_power, units_of_last_place<float>(math::pow(x, y), power));
    const auto a = static_cast<float>(u * 2 - 1), b = static_cast<float>(v * 2 - 1);
    const double angle = std::atan2(static_cast<double>(a), static_cast<double>(b));
    worst_angle = std::max({worst_angle, units_of_last_place<float>(math::atan2(a, b), angle),
                            units_of_last_place<double>(math::atan2(u * 2 - 1, v * 2 - 1),
                                                        std::atan2(u * 2.0L - 1, v * 2.0L - 1))});
    worst_length = std::max(
        {worst_length,
         units_of_last_place<float>(math::hypot(x, y), std::hypot(static_cast<double>(x), y)),
         units_of_last_place<double>(math::hypot(u, v), std::hypot(static_cast<long double>(u),
                                                                   static_cast<long double>(v)))});
  }
  EXPECT_LE(worst_power, 0.6);
  EXPECT_LE(worst_angle, 2.5);
  EXPECT_LE(worst_length, 2.5);
}

TEST(Math, ArcTangentOfTwoNumbersIsThatOfC) {
  std::vector<float> numbers = {0.0f,   -0.0f, 1.0f, -1.0f, 1e-45f,        -1e-45f, 1e-30f,
                                -1e30f, 3e38f, kInf, -kInf, std::nanf(""), 2.4f,    -0.41f};
  for (uint32_t i = 0; i < 300; ++i) numbers.push_back(__builtin_bit_cast(float, i * 2654435761u));
  for (float y : numbers)
    for (float x : numbers)
      expect_that_of_c(
          "atan2", math::atan2(y, x), [](double a, double b) { return std::atan2(a, b); }, y, x);
}

TEST(Math, LengthsAreThoseOfC) {
  const double sizes[] = {0.0,   5e-324, 1e-310,   1e-200,   3.0,       -4.0,
                          1e154, 1e300,  -1.7e308, HUGE_VAL, -HUGE_VAL, std::nan("")};
  for (const double x : sizes)
    for (const double y : sizes) {
      EXPECT_LE(
          units_of_last_place<double>(math::hypot(x, y), std::hypot(static_cast<long double>(x),
                                                                    static_cast<long double>(y))),
          2.5)
          << x << " " << y;
      const auto a = static_cast<float>(x), b = static_cast<float>(y);
      EXPECT_LE(
          units_of_last_place<float>(math::hypot(a, b), std::hypot(static_cast<double>(a), b)), 1)
          << a << " " << b;
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
