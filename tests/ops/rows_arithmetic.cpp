#include <cmath>

#include "taeda/ops/elementwise/arithmetic.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

double floor_division(double a, double b) {
  const double q = a / b;
  if (std::isnan(q) || std::isinf(a) || b == 0)
    return b == 0 ? q : std::isinf(a) ? std::nan("") : q;
  if (std::isinf(b)) return a == 0 ? q : (a < 0) != (b < 0) ? -1 : std::copysign(0.0, q);
  return std::floor(q);
}

double python_mod(double a, double b) {
  const double m = std::fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
}
double smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
}

const std::vector<Arg> kTwo = {real({}), real({})};
const std::vector<Arg> kDivisor = {real({}, -4, 4), real({}, 1, 4)};

std::vector<OpRow> sums() {
  return {
      elementwise({.name = "add",
                   .call = [](const Tensors& t) { return t[0] + t[1]; },
                   .formula = [](const double* a) { return a[0] + a[1]; },
                   .args = kTwo,
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].add_(t[1]); }}),
      elementwise({.name = "add.alpha",
                   .call = [](const Tensors& t) { return t[0].add(t[1], 3); },
                   .formula = [](const double* a) { return a[0] + 3 * a[1]; },
                   .args = kTwo,
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].add_(t[1], 3); }}),
      elementwise({.name = "add.scalar",
                   .call = [](const Tensors& t) { return 2 + t[0]; },
                   .formula = [](const double* a) { return a[0] + 2; },
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].add_(2); }}),
      elementwise({.name = "sub",
                   .call = [](const Tensors& t) { return t[0] - t[1]; },
                   .formula = [](const double* a) { return a[0] - a[1]; },
                   .args = {real({}, 2, 4), real({}, 0, 2)},
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].sub_(t[1]); }}),
      elementwise({.name = "sub.alpha",
                   .call = [](const Tensors& t) { return t[0].sub(t[1], 2); },
                   .formula = [](const double* a) { return a[0] - 2 * a[1]; },
                   .args = {real({}, 4, 6), real({}, 0, 2)},
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].sub_(t[1], 2); }}),
      elementwise({.name = "sub.scalar",
                   .call = [](const Tensors& t) { return t[0] - 0.5; },
                   .formula = [](const double* a) { return a[0] - 0.5; },
                   .in_place = [](const Tensors& t) { return t[0].sub_(0.5); }}),
      elementwise({.name = "rsub",
                   .call = [](const Tensors& t) { return 5 - t[0]; },
                   .formula = [](const double* a) { return 5 - a[0]; },
                   .dtypes = kReals}),
      elementwise({.name = "addcmul",
                   .call = [](const Tensors& t) { return t[0].addcmul(t[1], t[2], 0.5); },
                   .formula = [](const double* a) { return a[0] + 0.5 * a[1] * a[2]; },
                   .args = {real({}), real({}), real({})},
                   .in_place = [](const Tensors& t) { return t[0].addcmul_(t[1], t[2], 0.5); },
                   .specials = false}),
      elementwise({.name = "addcdiv",
                   .call = [](const Tensors& t) { return t[0].addcdiv(t[1], t[2], 0.5); },
                   .formula = [](const double* a) { return a[0] + 0.5 * a[1] / a[2]; },
                   .args = {real({}), real({}), real({}, 0.5, 2)},
                   .in_place = [](const Tensors& t) { return t[0].addcdiv_(t[1], t[2], 0.5); },
                   .specials = false}),
      elementwise({.name = "lerp",
                   .call = [](const Tensors& t) { return t[0].lerp(t[1], t[2]); },
                   .formula = [](const double* a) { return a[0] + a[2] * (a[1] - a[0]); },
                   .args = {real({}), real({}), real({}, 0, 1)},
                   .in_place = [](const Tensors& t) { return t[0].lerp_(t[1], t[2]); },
                   .specials = false}),
      elementwise({.name = "lerp.scalar",
                   .call = [](const Tensors& t) { return t[0].lerp(t[1], 0.25); },
                   .formula = [](const double* a) { return a[0] + 0.25 * (a[1] - a[0]); },
                   .args = kTwo,
                   .in_place = [](const Tensors& t) { return t[0].lerp_(t[1], 0.25); },
                   .specials = false}),
  };
}

std::vector<OpRow> products() {
  return {
      elementwise({.name = "mul",
                   .call = [](const Tensors& t) { return t[0] * t[1]; },
                   .formula = [](const double* a) { return a[0] * a[1]; },
                   .args = kTwo,
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].mul_(t[1]); }}),
      elementwise({.name = "mul.scalar",
                   .call = [](const Tensors& t) { return 3 * t[0]; },
                   .formula = [](const double* a) { return 3 * a[0]; },
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].mul_(3); }}),
      elementwise({.name = "div",
                   .call = [](const Tensors& t) { return t[0] / t[1]; },
                   .formula = [](const double* a) { return a[0] / a[1]; },
                   .args = kDivisor,
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].div_(t[1]); }}),
      elementwise({.name = "div.scalar",
                   .call = [](const Tensors& t) { return t[0] / 4; },
                   .formula = [](const double* a) { return a[0] / 4; },
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].div_(4); }}),
      elementwise({.name = "div.scalar_by_tensor",
                   .call = [](const Tensors& t) { return 3 / t[0]; },
                   .formula = [](const double* a) { return 3 / a[0]; },
                   .args = {real({}, 1, 4)},
                   .dtypes = kReals}),
      elementwise({.name = "div.trunc",
                   .call = [](const Tensors& t) { return t[0].div(t[1], "trunc"); },
                   .formula = [](const double* a) { return std::trunc(a[0] / a[1]); },
                   .args = kDivisor,
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].div_(t[1], "trunc"); }}),
      elementwise({.name = "div.floor",
                   .call = [](const Tensors& t) { return t[0].div(t[1], "floor"); },
                   .formula = [](const double* a) { return floor_division(a[0], a[1]); },
                   .args = kDivisor,
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].div_(t[1], "floor"); },
                   .specials = false}),
      elementwise({.name = "floor_divide",
                   .call = [](const Tensors& t) { return t[0].floor_divide(t[1]); },
                   .formula = [](const double* a) { return floor_division(a[0], a[1]); },
                   .args = kDivisor,
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].floor_divide_(t[1]); },
                   .differentiable = false,
                   .specials = false}),
      elementwise({.name = "floor_divide.scalar",
                   .call = [](const Tensors& t) { return t[0].floor_divide(3); },
                   .formula = [](const double* a) { return floor_division(a[0], 3); },
                   .args = {real({}, -9, 9)},
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].floor_divide_(3); },
                   .differentiable = false,
                   .specials = false}),
      elementwise({.name = "remainder",
                   .call = [](const Tensors& t) { return t[0] % t[1]; },
                   .formula = [](const double* a) { return python_mod(a[0], a[1]); },
                   .args = kDivisor,
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].remainder_(t[1]); },
                   .specials = false}),
      elementwise({.name = "remainder.scalar",
                   .call = [](const Tensors& t) { return t[0].remainder(3); },
                   .formula = [](const double* a) { return python_mod(a[0], 3); },
                   .args = {real({}, -9, 9)},
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].remainder_(3); }}),
      elementwise({.name = "remainder.scalar_by_tensor",
                   .call = [](const Tensors& t) { return 7 % t[0]; },
                   .formula = [](const double* a) { return python_mod(7, a[0]); },
                   .args = {real({}, 2, 5)},
                   .dtypes = kWide | kInts,
                   .specials = false}),
      elementwise({.name = "fmod",
                   .call = [](const Tensors& t) { return t[0].fmod(t[1]); },
                   .formula = [](const double* a) { return std::fmod(a[0], a[1]); },
                   .args = kDivisor,
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].fmod_(t[1]); },
                   .specials = false}),
      elementwise({.name = "fmod.scalar",
                   .call = [](const Tensors& t) { return t[0].fmod(3); },
                   .formula = [](const double* a) { return std::fmod(a[0], 3); },
                   .args = {real({}, -9, 9)},
                   .dtypes = kWide | kInts,
                   .in_place = [](const Tensors& t) { return t[0].fmod_(3); }}),
  };
}

std::vector<OpRow> powers() {
  std::vector<OpRow> rows = {
      elementwise({.name = "pow",
                   .call = [](const Tensors& t) { return t[0].pow(t[1]); },
                   .formula = [](const double* a) { return std::pow(a[0], a[1]); },
                   .args = {real({}, 0.5, 2), real({}, 0, 3)},
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].pow_(t[1]); },
                   .tolerance = 2}),
      elementwise({.name = "pow.scalar_base",
                   .call = [](const Tensors& t) { return pow(2, t[0]); },
                   .formula = [](const double* a) { return std::pow(2, a[0]); },
                   .args = {real({}, 0, 3)},
                   .dtypes = kReals}),
      elementwise({.name = "atan2",
                   .call = [](const Tensors& t) { return t[0].atan2(t[1]); },
                   .formula = [](const double* a) { return std::atan2(a[0], a[1]); },
                   .args = kTwo,
                   .dtypes = kReals}),
      elementwise({.name = "hypot",
                   .call = [](const Tensors& t) { return t[0].hypot(t[1]); },
                   .formula = [](const double* a) { return std::hypot(a[0], a[1]); },
                   .args = kTwo}),
      elementwise({.name = "maximum",
                   .call = [](const Tensors& t) { return t[0].maximum(t[1]); },
                   .formula = [](const double* a) { return larger(a[0], a[1]); },
                   .args = kTwo,
                   .dtypes = kReals | kBools,
                   .covers = {"max"}}),
      elementwise({.name = "minimum",
                   .call = [](const Tensors& t) { return t[0].minimum(t[1]); },
                   .formula = [](const double* a) { return smaller(a[0], a[1]); },
                   .args = kTwo,
                   .dtypes = kReals | kBools,
                   .covers = {"min"}}),
  };
  // Roots are IEEE's: sqrt(-0) and sqrt(-inf) differ from pow's.
  for (double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, 2.5, 0.0, 1.0})
    rows.push_back(
        elementwise({.name = "pow.scalar" + std::to_string(exponent),
                     .call = [=](const Tensors& t) { return t[0].pow(exponent); },
                     .formula = [=](const double* a) { return std::pow(a[0], exponent); },
                     .args = {real({}, 0.5, 2)},
                     .in_place = [=](const Tensors& t) { return t[0].pow_(exponent); },
                     .tolerance = 2,
                     .specials = std::fabs(exponent) != 0.5}));
  return rows;
}

}  // namespace

std::vector<OpRow> arithmetic_rows() {
  std::vector<OpRow> rows = sums();
  for (auto& more : {products(), powers()}) rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace taeda::testing
