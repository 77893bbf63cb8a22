#include <cmath>

#include "taeda/ops/elementwise/activation.h"
#include "tests/ops/formulas.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

double log_one_plus_exp(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
double exponential_unit(double x, double alpha, double scale, double input_scale) {
  return x > 0 ? scale * x : scale * alpha * std::expm1(input_scale * x);
}
double gelu_by_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

struct Activation {
  const char* name;
  Tensor (*call)(const Tensor&);
  double (*formula)(double);
  Tensor& (*in_place)(const Tensor&) = nullptr;
  unsigned dtypes = kFloats;
  /// Formulas like 0 * inf are NaN here and a limit there.
  bool specials = true;
};

const Activation kActivations[] = {
    {"relu", &relu, [](double x) { return std::isnan(x) ? x
                                          : x > 0       ? x
                                                        : 0; }, &relu_, kReals},
    {"relu6", &relu6, [](double x) { return clamped(x, 0, 6); }, &relu6_},
    {"leaky_relu", [](const Tensor& t) { return leaky_relu(t, 0.1); },
     [](double x) { return x > 0 ? x : 0.1 * x; },
     [](const Tensor& t) -> Tensor& { return leaky_relu_(t, 0.1); }},
    {"elu", [](const Tensor& t) { return elu(t, 1.5, 0.8, 1.2); },
     [](double x) { return exponential_unit(x, 1.5, 0.8, 1.2); },
     [](const Tensor& t) -> Tensor& { return elu_(t, 1.5, 0.8, 1.2); }},
    {"celu", [](const Tensor& t) { return celu(t, 2); },
     [](double x) { return exponential_unit(x, 2, 1, 0.5); },
     [](const Tensor& t) -> Tensor& { return celu_(t, 2); }},
    {"selu", &selu,
     [](double x) { return exponential_unit(x, 1.6732632423543772, 1.0507009873554805, 1); },
     &selu_},
    {"gelu", [](const Tensor& t) { return gelu(t); },
     [](double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); },
     [](const Tensor& t) -> Tensor& { return gelu_(t); }},
    {"gelu.tanh", [](const Tensor& t) { return gelu(t, "tanh"); }, &gelu_by_tanh},
    {"silu", &silu, [](double x) { return x * logistic(x); }, &silu_},
    {"mish", &mish, [](double x) { return x * std::tanh(log_one_plus_exp(x)); }, &mish_},
    {"softplus", [](const Tensor& t) { return softplus(t, 2, 3); },
     [](double x) { return 2 * x > 3 ? x : log_one_plus_exp(2 * x) / 2; }},
    {"softsign", &softsign, [](double x) { return x / (1 + std::fabs(x)); }},
    {"hardtanh", [](const Tensor& t) { return hardtanh(t, -0.5, 1); },
     [](double x) { return clamped(x, -0.5, 1); },
     [](const Tensor& t) -> Tensor& { return hardtanh_(t, -0.5, 1); }},
    {"hardsigmoid", &hardsigmoid, [](double x) { return clamped(x + 3, 0, 6) / 6; }, &hardsigmoid_},
    {"hardswish", &hardswish, [](double x) { return x * (clamped(x + 3, 0, 6) / 6); }, &hardswish_},
    {"tanhshrink", &tanhshrink, [](double x) { return x - std::tanh(x); }},
    {"softshrink", [](const Tensor& t) { return softshrink(t, 0.7); },
     [](double x) {
       return x > 0.7 ? x - 0.7 : x < -0.7 ? x + 0.7 : std::isnan(x) ? x : 0;
     }},
    {"hardshrink", [](const Tensor& t) { return hardshrink(t, 0.7); },
     [](double x) { return std::fabs(x) <= 0.7 ? 0 : x; }},
    {"threshold", [](const Tensor& t) { return threshold(t, 0.3, -2); },
     [](double x) { return x <= 0.3 ? -2 : x; },
     [](const Tensor& t) -> Tensor& { return threshold_(t, 0.3, -2); }},
    {"log_sigmoid", &log_sigmoid, [](double x) { return -log_one_plus_exp(-x); }},
};

OpRow row_of(const Activation& a) {
  Elementwise op;
  op.name = a.name;
  op.call = [call = a.call](const Tensors& t) { return call(t[0]); };
  op.formula = [f = a.formula](const double* x) { return f(x[0]); };
  op.args = {real({}, -4, 4)};
  op.dtypes = a.dtypes;
  if (a.in_place) op.in_place = [change = a.in_place](const Tensors& t) { return change(t[0]); };
  op.tolerance = 3;
  op.specials = a.specials;
  return elementwise(op);
}

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI); }

std::vector<OpRow> gradients() {
  const std::vector<Arg> two = {real({}), real({})};
  return {
      elementwise({.name = "threshold_backward",
                   .call = [](const Tensors& t) { return threshold_backward(t[0], t[1], 0.2); },
                   .formula = [](const double* a) { return a[1] > 0.2 ? a[0] : 0; },
                   .args = two,
                   .specials = false}),
      elementwise({.name = "gelu_backward",
                   .call = [](const Tensors& t) { return gelu_backward(t[0], t[1]); },
                   .formula =
                       [](const double* a) {
                         return a[0] * (0.5 * (1 + std::erf(a[1] * M_SQRT1_2)) +
                                        a[1] * normal_density(a[1]));
                       },
                   .args = two,
                   .tolerance = 3,
                   .specials = false}),
      elementwise({.name = "silu_backward",
                   .call = [](const Tensors& t) { return silu_backward(t[0], t[1]); },
                   .formula =
                       [](const double* a) {
                         const double s = logistic(a[1]);
                         return a[0] * (s + a[1] * s * (1 - s));
                       },
                   .args = two,
                   .tolerance = 3,
                   .specials = false}),
  };
}

std::vector<OpRow> with_parameters() {
  OpRow slope;
  slope.name = "prelu";
  slope.call = [](const Tensors& t) { return Tensors{prelu(t[0], t[1])}; };
  slope.samples = {{real({2, 3, 2}), real({3}, 0.1, 0.9)},
                   {real({4, 2}), real({1}, 0.1, 0.9)},
                   {real({5}), real({1})},
                   {real({0, 3}), real({3})}};
  slope.reference = [](const Arrays& in) {
    Array out = in[0];
    int64_t inner = 1;
    for (size_t d = 2; d < out.sizes.size(); ++d) inner *= out.sizes[d];
    const int64_t channels = in[1].numel();
    for (int64_t i = 0; i < out.numel(); ++i)
      if (out.data[i] <= 0) out.data[i] *= in[1].data[channels == 1 ? 0 : i / inner % channels];
    return Arrays{out};
  };

  OpRow gate;
  gate.name = "glu";
  gate.call = [](const Tensors& t) { return Tensors{glu(t[0], 1)}; };
  gate.samples = {{real({2, 4})}, {real({3, 2, 2})}, {real({0, 4})}};
  gate.reference = [](const Arrays& in) {
    Array out;
    out.sizes = in[0].sizes;
    const int64_t half = out.sizes[1] /= 2;
    const int64_t inner = out.sizes.size() > 2 ? out.sizes[2] : 1;
    for (int64_t row = 0; row < out.sizes[0]; ++row)
      for (int64_t i = 0; i < half * inner; ++i) {
        const double a = in[0].data[row * 2 * half * inner + i],
                     b = in[0].data[(row * 2 + 1) * half * inner + i];
        out.data.push_back(a * logistic(b));
      }
    return Arrays{out};
  };
  return {slope, gate};
}

}  // namespace

std::vector<OpRow> activation_rows() {
  std::vector<OpRow> rows = gradients();
  for (const OpRow& row : with_parameters()) rows.push_back(row);
  for (const Activation& a : kActivations) rows.push_back(row_of(a));
  return rows;
}

}  // namespace taeda::testing
