#include "taeda/distributions/gamma_numbers.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/function.h"
#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/kernels/pointwise/special.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"
#include "taeda/ops/host_numbers.h"
#include "taeda/ops/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributions {

namespace {

/// A number and its derivative.
struct Dual {
  double value = 0, slope = 0;
};
Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
Dual operator*(Dual a, Dual b) {
  return {a.value * b.value, a.slope * b.value + a.value * b.slope};
}
Dual operator/(Dual a, Dual b) {
  const double quotient = a.value / b.value;
  return {quotient, (a.slope - quotient * b.slope) / b.value};
}

constexpr double kPrecise = 1e-15;
constexpr int kMostTerms = 100'000;

/// sum x^n / ((a + 1) ... (a + n)), which is P(a, x) a / (x density(x)); for x below a + 1.
Dual lower_series(double a, double x) {
  Dual term{1, 0}, sum = term;
  for (int n = 1; n < kMostTerms; ++n) {
    term = term * (Dual{x, 0} / Dual{a + n, 1});
    sum = sum + term;
    if (term.value < kPrecise * sum.value && std::abs(term.slope) <= kPrecise * std::abs(sum.slope))
      break;
  }
  return sum;
}

/// Q(a, x) / (x density(x)) by Lentz's method; for x above a + 1.
Dual upper_fraction(double a, double x) {
  Dual b{x + 1 - a, -1}, c{1e300, 0}, d = Dual{1, 0} / b, result = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const Dual an{-i * (i - a), static_cast<double>(i)};
    b.value += 2;
    d = Dual{1, 0} / (an * d + b);
    c = b + an / c;
    const Dual step = d * c;
    result = result * step;
    if (std::abs(step.value - 1) < kPrecise && std::abs(step.slope) < kPrecise) break;
  }
  return result;
}

double gamma_number(double a, const Generator& generator) {
  double scale = 1;
  if (a < 1) {
    scale = std::pow(1 - generator.uniform(), 1 / a);
    a += 1;
  }
  constexpr double kThird = 1.0F / 3.0F;  // rounded as in PyTorch
  const double d = a - kThird, c = 1 / std::sqrt(9 * d);
  while (true) {
    double x, root;
    do {
      x = generator.normal();
      root = 1 + c * x;
    } while (root <= 0);
    const double v = root * root * root, u = 1 - generator.uniform(), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

/// f(a, x) of each element.
template <class F>
Tensor elementwise(const Tensor& concentration, const Tensor& x, F f) {
  if (concentration.is_meta()) return empty_like(concentration.detach());
  const Tensor a = detail::in_double(concentration), y = detail::in_double(x),
               result = empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i)
    result.data_ptr<double>()[i] = f(a.data_ptr<double>()[i], y.data_ptr<double>()[i]);
  return result.to(concentration.options().requires_grad(false));
}

/// The derivative, which has none itself.
struct StandardGammaGrad : autograd::Function<StandardGammaGrad> {
  static Tensor forward(autograd::AutogradContext*, Tensor concentration, Tensor numbers) {
    return elementwise(concentration, numbers, gamma_number_gradient);
  }
  static autograd::variable_list backward(autograd::AutogradContext*, autograd::variable_list) {
    detail::fail<NotImplementedError>(
        "the derivative for '_standard_gamma_grad' is not implemented");
  }
};

Tensor gamma_numbers(const Tensor& concentration, const Generator& generator) {
  if (concentration.is_meta()) return empty_like(concentration.detach());
  const Tensor a = detail::in_double(concentration), numbers = empty_like(a);
  for (int64_t i = 0; i < a.numel(); ++i)
    numbers.data_ptr<double>()[i] = gamma_number(a.data_ptr<double>()[i], generator);
  return numbers.to(concentration.options().requires_grad(false))
      .clamp_min(tiny_of(concentration.dtype()));
}

struct StandardGamma : autograd::Function<StandardGamma> {
  static Tensor forward(autograd::AutogradContext* context, Tensor concentration,
                        Generator generator) {
    const Tensor result = gamma_numbers(concentration, generator);
    context->save_for_backward({concentration, result});
    return result;
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list grads) {
    const autograd::variable_list saved = context->get_saved_variables();
    return {grads[0].mul(StandardGammaGrad::apply(saved[0], saved[1])), Tensor()};
  }
};

}  // namespace

double gamma_number_gradient(double a, double x) {
  if (!(x > 0)) return 0;
  if (a > 1e8) return (x + a) / (2 * a);  // a normal number with mean and variance a
  if (x < a + 1) {
    const Dual sum = lower_series(a, x);
    return -x / a * (sum.value * (std::log(x) - Digamma()(a + 1)) + sum.slope);
  }
  const Dual fraction = upper_fraction(a, x);
  return x * (fraction.value * (std::log(x) - Digamma()(a)) + fraction.slope);
}

Tensor standard_gamma(const Tensor& concentration, Generator* generator) {
  return StandardGamma::apply(
      concentration, detail::host_generator("standard_gamma", concentration.device(), generator));
}

namespace {

double log_density_of(double a, double x) { return (a - 1) * std::log(x) - x - Lgamma()(a); }

double cdf_of(double a, double x) {
  if (!(x > 0)) return std::isnan(x) ? x : 0;
  if (std::isinf(x)) return 1;
  const double scale = x * std::exp(log_density_of(a, x));
  return x < a + 1 ? lower_series(a, x).value * scale / a : 1 - upper_fraction(a, x).value * scale;
}

struct GammaCdf : autograd::Function<GammaCdf> {
  static Tensor forward(autograd::AutogradContext* context, Tensor concentration, Tensor x) {
    context->save_for_backward({concentration, x});
    return elementwise(concentration, x, cdf_of);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list grads) {
    TAEDA_CHECK_NOT_IMPLEMENTED(!GradMode::is_enabled(),
                                "the derivative for '_gamma_cdf_backward' is not implemented");
    const autograd::variable_list saved = context->get_saved_variables();
    const Tensor density = elementwise(saved[0], saved[1], [](double a, double x) {
      return x > 0 ? std::exp(log_density_of(a, x)) : 0;
    });
    const Tensor slope = elementwise(saved[0], saved[1], gamma_number_gradient);
    return {grads[0].mul(density).mul(slope).neg(), grads[0].mul(density)};
  }
};

}  // namespace

Tensor gamma_cdf(const Tensor& concentration, const Tensor& x) {
  const DimVector shape = broadcast_sizes(concentration.sizes(), x.sizes());
  return GammaCdf::apply(concentration.expand(shape), x.to(concentration.dtype()).expand(shape));
}

}  // namespace taeda::inline v0_2::distributions
