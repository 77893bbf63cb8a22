#include "taeda/distributions/gamma_numbers.h"

#include <algorithm>
#include <cmath>

#include "taeda/autograd/function.h"
#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/kernels/pointwise/special.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
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

/// sum (total)_n / (next)_n x^n with total's slope 1, the beta distribution function's series (DLMF
/// 8.17.8) without its factor; all terms are positive.
Dual beta_series(double total, Dual next, double x) {
  Dual term{1, 0}, sum = term;
  for (int n = 0; n < kMostTerms; ++n) {
    term = term * (Dual{x * (total + n), x} / Dual{next.value + n, next.slope});
    sum = sum + term;
    if (term.value < kPrecise * sum.value && std::abs(term.slope) <= kPrecise * std::abs(sum.slope))
      break;
  }
  return sum;
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

double beta_number_gradient(double a, double b, double x, double rest) {
  if (!(x > 0) || !(rest > 0)) return 0;
  const double total = a + b;
  if (total > 1e8) {  // a normal number, by its mean and deviation
    const double slope = 0.5 / a - 1 / total - 0.5 / (total + 1);
    return (b / (total * total) + (x - a / total) * slope) / rest;
  }
  const double log_x = rest < 0.5 ? std::log1p(-rest) : std::log(x);
  const bool below = x < rest ? x * total <= a + 1 : rest * total > b + 1;
  if (below) {
    const Dual sum = beta_series(total, {a + 1, 1}, x);
    return -x / a * (sum.value * (log_x - Digamma()(a + 1) + Digamma()(total)) + sum.slope);
  }
  const Dual sum = beta_series(total, {b + 1, 0}, rest);
  return x / b * (sum.value * (log_x - Digamma()(a) + Digamma()(total)) + sum.slope);
}

namespace {

/// Weights in double with the gradient of each at the probability that it has in its marginal, a
/// beta distribution; the others share what is left as before (Figurnov, Mohamed and Mnih,
/// "Implicit reparameterization gradients", 2018).
struct StandardDirichlet : autograd::Function<StandardDirichlet> {
  static Tensor forward(autograd::AutogradContext* context, Tensor concentration,
                        Generator generator) {
    if (concentration.is_meta()) return empty_like(concentration.detach());
    const ScalarType dtype = concentration.dtype();
    const Tensor numbers = gamma_numbers(concentration.to(kDouble), generator);
    const Tensor total = numbers.sum({-1}, true), weights = numbers.div(total);
    // What the others weigh, without the digits that 1 - x loses.
    const Tensor rest =
        where(weights.lt(0.5), weights.neg().add(1), others_of(numbers.contiguous()).div(total));
    context->save_for_backward({concentration, weights, rest});
    return weights.to(dtype).clamp(tiny_of(dtype), 1 - epsilon_of(dtype) / 2);
  }
  static autograd::variable_list backward(autograd::AutogradContext* context,
                                          autograd::variable_list grads) {
    TAEDA_CHECK_NOT_IMPLEMENTED(!GradMode::is_enabled(),
                                "the derivative for '_dirichlet_grad' is not implemented");
    const autograd::variable_list saved = context->get_saved_variables();
    const Tensor a = saved[0].to(kDouble), b = others_of(a.contiguous());
    const Tensor slope =
        per_element([](double p, double q, double x,
                       double rest) { return beta_number_gradient(p, q, x, rest); },
                    a, b, saved[1], saved[2]);
    const Tensor g = grads[0].to(kDouble), shared = g.mul(saved[1]).sum({-1}, true);
    return {slope.mul(g.sub(shared)).to(saved[0].dtype()), Tensor()};
  }

 private:
  /// The sum of all others of a last dimension, for each.
  static Tensor others_of(const Tensor& t) {
    const Tensor parts = detail::in_double(t).contiguous(), result = empty_like(parts);
    const int64_t k = parts.size(-1);
    const double* p = parts.data_ptr<double>();
    double* r = result.data_ptr<double>();
    for (int64_t row = 0; k > 0 && row < parts.numel(); row += k) {
      double before = 0, behind = 0;
      for (int64_t i = 0; i < k; before += p[row + i++]) r[row + i] = before;
      for (int64_t i = k - 1; i >= 0; behind += p[row + i--]) r[row + i] += behind;
    }
    return result.to(t.device());
  }
  template <class F>
  static Tensor per_element(F f, const Tensor& a, const Tensor& b, const Tensor& x,
                            const Tensor& rest) {
    const Tensor in[] = {detail::in_double(a), detail::in_double(b), detail::in_double(x),
                         detail::in_double(rest)};
    const Tensor result = empty_like(in[0]);
    const auto at = [&](int n, int64_t i) { return in[n].data_ptr<double>()[i]; };
    for (int64_t i = 0; i < result.numel(); ++i)
      result.data_ptr<double>()[i] = f(at(0, i), at(1, i), at(2, i), at(3, i));
    return result.to(a.device());
  }
};

}  // namespace

Tensor standard_dirichlet(const Tensor& concentration, Generator* generator) {
  return StandardDirichlet::apply(
      concentration,
      detail::host_generator("standard_dirichlet", concentration.device(), generator));
}

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
