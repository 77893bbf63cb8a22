#include <cmath>

#include "taeda/ops/elementwise/unary.h"
#include "tests/ops/formulas.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

using Method = Tensor (Tensor::*)() const;
using InPlaceMember = Tensor& (Tensor::*)() const;

/// A method without arguments. Values come from [low, high).
struct Unary {
  const char* name;
  Method method;
  double (*formula)(double);
  double low = -2, high = 2;
  InPlaceMember in_place = nullptr;
  unsigned dtypes = kReals;
};

OpRow row_of(const Unary& u) {
  Elementwise op;
  op.name = u.name;
  op.call = [m = u.method](const Tensors& t) { return (t[0].*m)(); };
  op.formula = [f = u.formula](const double* a) { return f(a[0]); };
  op.args = {real({}, u.low, u.high)};
  op.dtypes = u.dtypes;
  if (u.in_place) op.in_place = [m = u.in_place](const Tensors& t) { return (t[0].*m)(); };
  op.tolerance = 2;
  return elementwise(op);
}

double sign_of(double x) { return (x > 0) - (x < 0); }  // 0 for NaN

const Unary kUnary[] = {
    {"abs", &Tensor::abs, [](double x) { return std::fabs(x); }, -3, 3, &Tensor::abs_},
    {"neg", &Tensor::neg, [](double x) { return -x; }, -3, 0, &Tensor::neg_, kFloats},
    {"sign", &Tensor::sign, sign_of, -2, 2, &Tensor::sign_},
    {"exp", &Tensor::exp, [](double x) { return std::exp(x); }, -2, 2, &Tensor::exp_},
    {"exp2", &Tensor::exp2, [](double x) { return std::exp2(x); }, -2, 2, &Tensor::exp2_},
    {"expm1", &Tensor::expm1, [](double x) { return std::expm1(x); }, -2, 2, &Tensor::expm1_},
    {"log", &Tensor::log, [](double x) { return std::log(x); }, 0.2, 4, &Tensor::log_},
    {"log2", &Tensor::log2, [](double x) { return std::log2(x); }, 0.2, 4, &Tensor::log2_},
    {"log10", &Tensor::log10, [](double x) { return std::log10(x); }, 0.2, 4, &Tensor::log10_},
    {"log1p", &Tensor::log1p, [](double x) { return std::log1p(x); }, -0.7, 4, &Tensor::log1p_},
    {"sqrt", &Tensor::sqrt, [](double x) { return std::sqrt(x); }, 0.2, 4, &Tensor::sqrt_},
    {"rsqrt", &Tensor::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.2, 4, &Tensor::rsqrt_},
    {"square", &Tensor::square, [](double x) { return x * x; }, -3, 3, &Tensor::square_},
    {"reciprocal", &Tensor::reciprocal, [](double x) { return 1 / x; }, 0.2, 4,
     &Tensor::reciprocal_},
    {"sin", &Tensor::sin, [](double x) { return std::sin(x); }, -7, 7, &Tensor::sin_},
    {"cos", &Tensor::cos, [](double x) { return std::cos(x); }, -7, 7, &Tensor::cos_},
    {"tan", &Tensor::tan, [](double x) { return std::tan(x); }, -1.2, 1.2, &Tensor::tan_},
    {"asin", &Tensor::asin, [](double x) { return std::asin(x); }, -0.9, 0.9, &Tensor::asin_},
    {"acos", &Tensor::acos, [](double x) { return std::acos(x); }, -0.9, 0.9, &Tensor::acos_},
    {"atan", &Tensor::atan, [](double x) { return std::atan(x); }, -4, 4, &Tensor::atan_},
    {"sinh", &Tensor::sinh, [](double x) { return std::sinh(x); }, -2, 2, &Tensor::sinh_},
    {"cosh", &Tensor::cosh, [](double x) { return std::cosh(x); }, -2, 2, &Tensor::cosh_},
    {"tanh", &Tensor::tanh, [](double x) { return std::tanh(x); }, -3, 3, &Tensor::tanh_},
    {"erf", &Tensor::erf, [](double x) { return std::erf(x); }, -3, 3, &Tensor::erf_},
    {"erfc", &Tensor::erfc, [](double x) { return std::erfc(x); }, -3, 3, &Tensor::erfc_},
    {"sigmoid", &Tensor::sigmoid, logistic, -4, 4, &Tensor::sigmoid_},
    {"floor", &Tensor::floor, [](double x) { return std::floor(x); }, -4, 4, &Tensor::floor_},
    {"ceil", &Tensor::ceil, [](double x) { return std::ceil(x); }, -4, 4, &Tensor::ceil_},
    {"round", &Tensor::round, [](double x) { return std::nearbyint(x); }, -4, 4, &Tensor::round_},
    {"trunc", &Tensor::trunc, [](double x) { return std::trunc(x); }, -4, 4, &Tensor::trunc_},
    {"frac", &Tensor::frac, [](double x) { return x - std::trunc(x); }, -4, 4, &Tensor::frac_,
     kFloats},
    {"conj", &Tensor::conj, [](double x) { return x; }},
};

std::vector<OpRow> clamps() {
  return {
      elementwise({.name = "clamp",
                   .call = [](const Tensors& t) { return t[0].clamp(-1, 1); },
                   .formula = [](const double* a) { return clamped(a[0], -1, 1); },
                   .dtypes = kReals,
                   .in_place = [](const Tensors& t) { return t[0].clamp_(-1, 1); },
                   .covers = {"clip"}}),
      elementwise({.name = "clamp.tensors",
                   .call = [](const Tensors& t) { return clamp(t[0], t[1], t[2]); },
                   .formula = [](const double* a) { return clamped(a[0], a[1], a[2]); },
                   .args = {real({}), real({}, -1.5, 0), real({}, 0, 1.5)},
                   .specials = false}),
      elementwise({.name = "clamp.tensor_below",
                   .call = [](const Tensors& t) { return clamp(t[0], t[1]); },
                   .formula = [](const double* a) { return std::max(a[0], a[1]); },
                   .args = {real({}), real({}, -1, 1)},
                   .specials = false}),
      elementwise({.name = "clamp.tensor_above",
                   .call = [](const Tensors& t) { return clamp(t[0], {}, t[1]); },
                   .formula = [](const double* a) { return std::min(a[0], a[1]); },
                   .args = {real({}), real({}, -1, 1)},
                   .specials = false}),
      elementwise({.name = "clamp_min",
                   .call = [](const Tensors& t) { return t[0].clamp_min(0.5); },
                   .formula = [](const double* a) { return clamped(a[0], 0.5, INFINITY); },
                   .in_place = [](const Tensors& t) { return t[0].clamp_min_(0.5); }}),
      elementwise({.name = "clamp_max",
                   .call = [](const Tensors& t) { return t[0].clamp_max(0.5); },
                   .formula = [](const double* a) { return clamped(a[0], -INFINITY, 0.5); },
                   .in_place = [](const Tensors& t) { return t[0].clamp_max_(0.5); }}),
      elementwise({.name = "nan_to_num",
                   .call = [](const Tensors& t) { return t[0].nan_to_num(1.5, 10, -10); },
                   .formula =
                       [](const double* a) {
                         return std::isnan(a[0])   ? 1.5
                                : std::isinf(a[0]) ? std::copysign(10.0, a[0])
                                                   : a[0];
                       },
                   .in_place = [](const Tensors& t) { return t[0].nan_to_num_(1.5, 10, -10); }}),
      elementwise({.name = "tanh_backward",
                   .call = [](const Tensors& t) { return tanh_backward(t[0], t[1]); },
                   .formula = [](const double* a) { return a[0] * (1 - a[1] * a[1]); },
                   .args = {real({}), real({}, -0.9, 0.9)},
                   .specials = false}),
      elementwise({.name = "sigmoid_backward",
                   .call = [](const Tensors& t) { return sigmoid_backward(t[0], t[1]); },
                   .formula = [](const double* a) { return a[0] * (1 - a[1]) * a[1]; },
                   .args = {real({}), real({}, 0.1, 0.9)},
                   .specials = false}),
  };
}

}  // namespace

std::vector<OpRow> unary_rows() {
  std::vector<OpRow> rows = clamps();
  rows.push_back(elementwise({.name = "angle",
                              .call = [](const Tensors& t) { return angle(t[0]); },
                              .formula =
                                  [](const double* a) {
                                    return std::isnan(a[0]) ? a[0] : a[0] < 0 ? std::acos(-1.0) : 0;
                                  },
                              .dtypes = kReals}));
  for (const Unary& u : kUnary) rows.push_back(row_of(u));
  return rows;
}

}  // namespace taeda::testing
