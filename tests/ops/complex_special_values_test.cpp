// Complex numbers at the ends of their range: quotients that need scaling, C99's Annex G.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>

#include "taeda/taeda.h"

namespace taeda {
namespace {

using Complex = std::complex<double>;
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Tensor complex_list(const std::vector<Complex>& list, ScalarType dtype = kComplexDouble) {
  std::vector<double> parts;
  for (const Complex& z : list) parts.push_back(z.real()), parts.push_back(z.imag());
  return view_as_complex(tensor(parts, kDouble).view({-1, 2})).to(dtype);
}

std::vector<Complex> values_of(const Tensor& t) {
  const Tensor parts = view_as_real(t.to(kComplexDouble).contiguous()).contiguous();
  const double* p = parts.data_ptr<double>();
  std::vector<Complex> list;
  for (int64_t i = 0; i < t.numel(); ++i) list.emplace_back(p[2 * i], p[2 * i + 1]);
  return list;
}

/// Equal up to `tolerance` in size; NaN equals NaN, and an infinity beside NaN may have any sign.
bool agree(Complex got, Complex want, double tolerance) {
  const auto part = [&](double a, double b, double beside) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(b)) return a == b || (std::isnan(beside) && a == -b);
    return std::abs(a - b) <=
           tolerance * (std::isfinite(beside) ? std::abs(want) : std::abs(b)) + 1e-300;
  };
  return part(got.real(), want.real(), want.imag()) && part(got.imag(), want.imag(), want.real());
}

TEST(ComplexQuotients, OfNumbersWhoseSquaresAreOutOfRange) {
  for (const auto& [dtype, large, small] :
       {std::tuple{kComplexFloat, 1e20, 1e-36}, std::tuple{kComplexDouble, 1e200, 1e-300}}) {
    const double tolerance = dtype == kComplexFloat ? 1e-6 : 1e-15;
    const Tensor x = complex_list({{large, large}, {small, -small}, {large, small}}, dtype);
    for (const Complex& one : values_of(x.div(x))) EXPECT_TRUE(agree(one, 1, tolerance)) << one;
    const double half = 0.5 / large, root = std::sqrt(0.5);
    EXPECT_TRUE(agree(values_of(x.reciprocal())[0], {half, -half}, tolerance)) << x.reciprocal();
    EXPECT_TRUE(agree(values_of(sgn(x))[0], {root, root}, tolerance)) << sgn(x);
    EXPECT_TRUE(agree(values_of(sgn(x))[1], {root, -root}, tolerance)) << sgn(x);
    EXPECT_TRUE(agree(values_of(zeros_like(x).div(x))[1], 0, 0));
    EXPECT_TRUE(agree(values_of(x.div(Complex(large, large)))[0], 1, tolerance));
    const Tensor added = zeros_like(x).addcdiv(x, x, 2.0);
    for (const Complex& two : values_of(added)) EXPECT_TRUE(agree(two, 2, tolerance)) << two;
    EXPECT_TRUE(isinf(ones_like(x).addcdiv(x, zeros_like(x))).all().item<bool>());
    const Tensor leaf = x.clone().requires_grad_();
    real(leaf.div(x)).sum().backward();
    EXPECT_TRUE(isfinite(leaf.grad()).all().item<bool>()) << leaf.grad();
  }
}

TEST(ComplexQuotients, OfZerosInfinitiesAndNaNAreThoseOfC) {
  const std::vector<double> parts = {0.0, -0.0, 1.5, -1e300, inf, -inf, nan};
  std::vector<Complex> numbers, above, below;
  for (const double a : parts)
    for (const double b : parts) numbers.emplace_back(a, b);
  for (const Complex& a : numbers)
    for (const Complex& b : numbers) above.push_back(a), below.push_back(b);
  const std::vector<Complex> got = values_of(complex_list(above).div(complex_list(below)));
  for (size_t i = 0; i < got.size(); ++i) {
    const Complex want = above[i] / below[i];
    EXPECT_TRUE(agree(got[i], want, 1e-14))
        << above[i] << " / " << below[i] << ": " << got[i] << ", not " << want;
  }
}

TEST(ComplexQuotients, OfSystemsOfLargeNumbers) {
  const Tensor a = complex_list({{1e200, 1e200}, 0, 0, {1e-200, -1e-200}}).view({2, 2});
  const std::vector<Complex> x = values_of(linalg::solve(a, a));
  EXPECT_TRUE(agree(x[0], 1, 1e-14) && agree(x[3], 1, 1e-14)) << linalg::solve(a, a);
}

TEST(ComplexFunctions, SpecialValuesAreThoseOfC) {
  struct Point {
    double x, y, re, im;
  };
  struct Row {
    const char* name;
    std::vector<Point> points;
  };
  const std::vector<Row> rows = {
#include "tests/ops/complex_special_values_golden.inc"
  };
  const std::map<std::string, Tensor (*)(const Tensor&)> functions = {
      {"exp", exp},     {"log", log},     {"log2", log2},   {"log10", log10}, {"log1p", log1p},
      {"sqrt", sqrt},   {"sin", sin},     {"cos", cos},     {"tan", tan},     {"sinh", sinh},
      {"cosh", cosh},   {"tanh", tanh},   {"asin", asin},   {"acos", acos},   {"atan", atan},
      {"asinh", asinh}, {"acosh", acosh}, {"atanh", atanh}, {"exp2", exp2},   {"square", square}};
  for (const Row& row : rows) {
    std::vector<Complex> at;
    for (const Point& p : row.points) at.emplace_back(p.x, p.y);
    const std::vector<Complex> got = values_of(functions.at(row.name)(complex_list(at)));
    for (size_t i = 0; i < at.size(); ++i) {
      const Complex want(row.points[i].re, row.points[i].im);
      EXPECT_TRUE(agree(got[i], want, 1e-13))
          << row.name << at[i] << ": " << got[i] << ", not " << want;
    }
  }
}

TEST(ComplexFunctions, SquaresOfPartsThatAlmostCancelKeepTheirDigits) {
  const double step = std::ldexp(1.0, -52);  // (1 + step)^2 - 1 is step (2 + step)
  for (const Complex& z : {Complex(1 + step, 1), Complex(1 + step, -1)}) {
    const Complex square_of = values_of(square(complex_list(std::vector<Complex>(9, z))))[8];
    EXPECT_EQ(square_of.real(), step * (2 + step));
    EXPECT_EQ(values_of(pow(complex_list({z}), 2))[0], square_of);
  }
  const Complex nothing = values_of(square(complex_list({{-1, -1}})))[0];
  EXPECT_TRUE(nothing.real() == 0 && !std::signbit(nothing.real()));
}

TEST(ComplexFunctions, ExponentialsOverflowInOnePartAlone) {
  const Tensor one_part = exp(complex_list({{88.9, 1}, {-inf, nan}}, kComplexFloat));
  EXPECT_TRUE(agree(values_of(one_part)[0], {2.1949e38, inf}, 1e-4)) << one_part;
  EXPECT_TRUE(agree(values_of(one_part)[1], 0, 0)) << one_part;
  const std::vector<Complex> at = {{inf, 0},       {-inf, inf}, {710, 1},
                                   {1000, 1e-300}, {-800, 2},   {1e-20, 0}};
  const std::vector<Complex> got = values_of(expm1(complex_list(at)));
  const Complex want[] = {
      {inf, 0}, {-1, 0},   {1.2070325234545281e308, inf}, {inf, 1.9700711140170472e134},
      {-1, 0},  {1e-20, 0}};
  for (size_t i = 0; i < at.size(); ++i)
    EXPECT_TRUE(agree(got[i], want[i], 1e-13)) << at[i] << got[i];
}

TEST(ComplexFunctions, APowerOfZeroIsOneOrZero) {
  const Tensor nothing = complex_list({0, 0, 0}), exponents = complex_list({0, 2, {1, 1}});
  for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
    const std::vector<Complex> got = values_of(pow(nothing.to(dtype), exponents.to(dtype)));
    EXPECT_TRUE(got[0] == 1.0 && got[1] == 0.0 && got[2] == 0.0) << got[0] << got[1] << got[2];
  }
}

TEST(ComplexFunctions, ASigmoidEndsAtZeroAndOne) {
  const Tensor y = sigmoid(complex_list({{inf, 0}, {1000, 1}, {-inf, 0}, {-1000, 1}}));
  const std::vector<Complex> ends = values_of(y);
  EXPECT_TRUE(agree(ends[0], 1, 0) && agree(ends[1], 1, 0)) << y;
  EXPECT_TRUE(agree(ends[2], 0, 0) && agree(ends[3], 0, 0)) << y;
}

}  // namespace
}  // namespace taeda
