// Rows of higher transcendental functions: the C++ library's Bessel functions and polynomials, and
// sums and integrals for what it lacks.
#include <cmath>
#include <complex>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

const double kCirclePi = std::acos(-1.0);

using Function = Tensor (*)(const Tensor&);

OpRow function_row(const std::string& name, Function call, double (*f)(double), double low,
                   double high, bool differentiable = true) {
  Elementwise e;
  e.name = name;
  e.call = [call](const Tensors& t) { return call(t[0]); };
  e.formula = [f](const double* a) { return f(a[0]); };
  e.args = {real({}, low, high)};
  e.differentiable = differentiable;
  e.tolerance = 8;
  e.specials = false;
  return elementwise(e);
}

double bessel_j(int order, double x) {
  const double size = std::cyl_bessel_j(order, std::fabs(x));
  return order == 1 && x < 0 ? -size : size;
}
double bessel_i(int order, double x) {
  const double size = std::cyl_bessel_i(order, std::fabs(x));
  return order == 1 && x < 0 ? -size : size;
}

/// The integral of cos(t^3 / 3 + x t) over t > 0, by pi (DLMF 9.5.1), along the ray of angle pi /
/// 6, where it falls off fast, by Simpson's rule.
double airy(double x) {
  const std::complex<double> ray = std::polar(1.0, kCirclePi / 6), i(0, 1);
  const auto f = [&](double r) {
    const std::complex<double> t = r * ray;
    return (std::exp(i * (t * t * t / 3.0 + x * t)) * ray).real();
  };
  const int n = 4000;
  const double step = 8.0 / n;
  double sum = f(0) + f(8);
  for (int k = 1; k < n; ++k) sum += (k % 2 ? 4 : 2) * f(k * step);
  return sum * step / 3 / kCirclePi;
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double normal_quantile(double p) {
  double low = -10, high = 10;
  for (int i = 0; i < 200; ++i)
    (normal_below((low + high) / 2) < p ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

std::vector<OpRow> bessel_rows() {
  using namespace special;
  return {
      function_row(
          "i0", &i0, [](double x) { return bessel_i(0, x); }, -3, 3),
      function_row(
          "i1", &i1, [](double x) { return bessel_i(1, x); }, -3, 3),
      function_row(
          "i0e", &i0e, [](double x) { return bessel_i(0, x) * std::exp(-std::fabs(x)); }, -30, 30),
      function_row(
          "i1e", &i1e, [](double x) { return bessel_i(1, x) * std::exp(-std::fabs(x)); }, -30, 30),
      function_row(
          "bessel_j0", &bessel_j0, [](double x) { return bessel_j(0, x); }, -40, 40),
      function_row(
          "bessel_j1", &bessel_j1, [](double x) { return bessel_j(1, x); }, -40, 40),
      function_row(
          "bessel_y0", &bessel_y0, [](double x) { return std::cyl_neumann(0, x); }, 0.5, 40),
      function_row(
          "bessel_y1", &bessel_y1, [](double x) { return std::cyl_neumann(1, x); }, 0.5, 40),
      function_row(
          "modified_bessel_i0", &modified_bessel_i0, [](double x) { return bessel_i(0, x); }, -3,
          3),
      function_row(
          "modified_bessel_i1", &modified_bessel_i1, [](double x) { return bessel_i(1, x); }, -3,
          3),
      function_row(
          "modified_bessel_k0", &modified_bessel_k0,
          [](double x) { return std::cyl_bessel_k(0, x); }, 0.5, 5),
      function_row(
          "modified_bessel_k1", &modified_bessel_k1,
          [](double x) { return std::cyl_bessel_k(1, x); }, 0.5, 5),
      function_row(
          "scaled_modified_bessel_k0", &scaled_modified_bessel_k0,
          [](double x) { return std::cyl_bessel_k(0, x) * std::exp(x); }, 0.5, 40, false),
      function_row(
          "scaled_modified_bessel_k1", &scaled_modified_bessel_k1,
          [](double x) { return std::cyl_bessel_k(1, x) * std::exp(x); }, 0.5, 40, false),
      function_row(
          "spherical_bessel_j0", &spherical_bessel_j0,
          [](double x) { return std::sph_bessel(0, std::fabs(x)); }, -20, 20, false),
      function_row("airy_ai", &airy_ai, &airy, -6, 3, false),
  };
}

std::vector<OpRow> normal_rows() {
  using namespace special;
  return {
      function_row(
          "erfcx", &erfcx, [](double x) { return std::exp(x * x) * std::erfc(x); }, -1.5, 4),
      function_row("ndtr", &ndtr, &normal_below, -4, 4),
      function_row(
          "log_ndtr", &log_ndtr, [](double x) { return std::log(normal_below(x)); }, -8, 4),
      function_row("ndtri", &ndtri, &normal_quantile, 0.05, 0.95),
      function_row(
          "entr", &entr, [](double x) { return -x * std::log(x); }, 0.1, 3),
  };
}

using Pair = Tensor (*)(const Tensor&, const Tensor&);

OpRow pair_row(const std::string& name, std::function<Tensor(const Tensors&)> call,
               double (*f)(double, double), Arg a, Arg b, bool differentiable) {
  Elementwise e;
  e.name = name;
  e.call = std::move(call);
  e.formula = [f](const double* x) { return f(x[0], x[1]); };
  e.args = {a, b};
  e.differentiable = differentiable;
  e.tolerance = 8;
  e.specials = false;
  return elementwise(e);
}

std::function<Tensor(const Tensors&)> of_both(Pair op) {
  return [op](const Tensors& t) { return op(t[0], t[1]); };
}

/// P(a, x) by its series.
double lower_gamma(double a, double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < 500; ++n) sum += term *= x / (a + n);
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a + 1));
}

double hurwitz(double s, double q) {
  double sum = 0;
  const int n = 4000;
  for (int k = 0; k < n; ++k) sum += std::pow(q + k, -s);
  const double y = q + n;
  return sum + std::pow(y, 1 - s) / (s - 1) + 0.5 * std::pow(y, -s) + s / 12 * std::pow(y, -s - 1);
}

std::vector<OpRow> gamma_rows() {
  const Arg shape = real({}, 0.5, 6), place = real({}, 0.2, 8);
  const auto upper = [](double a, double x) { return 1 - lower_gamma(a, x); };
  std::vector<OpRow> rows = {
      pair_row("gammainc", of_both(&special::gammainc), &lower_gamma, shape, place, false),
      pair_row("gammaincc", of_both(&special::gammaincc), upper, shape, place, false),
      pair_row("igamma", of_both(&igamma), &lower_gamma, shape, place, false),
      pair_row("igammac", of_both(&igammac), upper, shape, place, false),
      pair_row("zeta", of_both(Pair(&special::zeta)), &hurwitz, real({}, 2, 6), real({}, 0.5, 4),
               false),
      pair_row(
          "xlog1py", of_both(Pair(&special::xlog1py)),
          [](double a, double b) { return a * std::log1p(b); }, real({}), real({}, -0.5, 2), true),
  };
  const auto of_second = [&](const std::string& name, Function call, double (*f)(double),
                             double low, double high) {
    rows.push_back(function_row(name, call, f, low, high));
  };
  of_second(
      "gammainc.other",
      [](const Tensor& x) { return special::gammainc(full_like(x.detach(), 1.75), x); },
      [](double x) { return lower_gamma(1.75, x); }, 0.5, 5);
  of_second(
      "gammaincc.other",
      [](const Tensor& x) { return special::gammaincc(full_like(x.detach(), 1.75), x); },
      [](double x) { return 1 - lower_gamma(1.75, x); }, 0.5, 5);
  of_second(
      "zeta.other", [](const Tensor& x) { return special::zeta(2.5, x); },
      [](double x) { return hurwitz(2.5, x); }, 0.5, 4);
  const auto three = [](double x) {
    return 1.5 * std::log(kCirclePi) + std::lgamma(x) + std::lgamma(x - 0.5) + std::lgamma(x - 1);
  };
  of_second(
      "multigammaln", [](const Tensor& x) { return special::multigammaln(x, 3); }, three, 2, 5);
  of_second(
      "mvlgamma", [](const Tensor& x) { return mvlgamma(x, 3); }, three, 2, 5);
  return rows;
}

// ---- polynomials ----

unsigned degree(double n) { return static_cast<unsigned>(n); }
double angle_t(double x, double n) {
  return std::fabs(x) <= 1 ? std::cos(std::floor(n) * std::acos(x))
                           : std::pow(x < 0 ? -1 : 1, std::floor(n)) *
                                 std::cosh(std::floor(n) * std::acosh(std::fabs(x)));
}
/// U_n = 2 (T_n + T_(n - 2) + ...), less 1 where that ends with T_0 (DLMF 18.18.32, 18.18.33).
double sum_u(double x, double n) {
  double sum = 0;
  for (double k = std::floor(n); k >= 0; k -= 2) sum += k == 0 ? 1 : 2 * angle_t(x, k);
  return sum;
}
double sum_v(double x, double n) { return sum_u(x, n) - sum_u(x, std::floor(n) - 1); }
double sum_w(double x, double n) { return sum_u(x, n) + sum_u(x, std::floor(n) - 1); }

OpRow polynomial_row(const std::string& name, Pair op, double (*f)(double, double),
                     double low = -1.2, double high = 1.2) {
  OpRow row =
      pair_row(name, of_both(op), f, real({}, low, high), Arg{{}, 0, 7, Arg::Kind::Index}, false);
  row.samples.push_back({real({33}, -1, 1), Arg{{33}, 33, 60, Arg::Kind::Index}});
  row.dtypes = kWide;
  row.tolerance = 50;
  return row;
}

std::vector<OpRow> polynomial_rows() {
  using namespace special;
  std::vector<OpRow> rows = {
      polynomial_row("chebyshev_polynomial_t", &chebyshev_polynomial_t, &angle_t),
      polynomial_row("chebyshev_polynomial_u", &chebyshev_polynomial_u, &sum_u),
      polynomial_row("chebyshev_polynomial_v", &chebyshev_polynomial_v, &sum_v),
      polynomial_row("chebyshev_polynomial_w", &chebyshev_polynomial_w, &sum_w),
      polynomial_row(
          "shifted_chebyshev_polynomial_t", &shifted_chebyshev_polynomial_t,
          [](double x, double n) { return angle_t(2 * x - 1, n); }, 0, 1),
      polynomial_row(
          "shifted_chebyshev_polynomial_u", &shifted_chebyshev_polynomial_u,
          [](double x, double n) { return sum_u(2 * x - 1, n); }, 0, 1),
      polynomial_row(
          "shifted_chebyshev_polynomial_v", &shifted_chebyshev_polynomial_v,
          [](double x, double n) { return sum_v(2 * x - 1, n); }, 0, 1),
      polynomial_row(
          "shifted_chebyshev_polynomial_w", &shifted_chebyshev_polynomial_w,
          [](double x, double n) { return sum_w(2 * x - 1, n); }, 0, 1),
      polynomial_row("hermite_polynomial_h", &hermite_polynomial_h,
                     [](double x, double n) { return std::hermite(degree(n), x); }),
      polynomial_row("hermite_polynomial_he", &hermite_polynomial_he,
                     [](double x, double n) {
                       return std::exp2(-0.5 * std::floor(n)) *
                              std::hermite(degree(n), x / std::sqrt(2.0));
                     }),
      polynomial_row(
          "laguerre_polynomial_l", &laguerre_polynomial_l,
          [](double x, double n) { return std::laguerre(degree(n), x); }, 0, 3),
      polynomial_row(
          "legendre_polynomial_p", &legendre_polynomial_p,
          [](double x, double n) { return std::legendre(degree(n), x); }, -1, 1),
  };
  for (OpRow& row : rows) {
    const bool shifted = row.name.find("shifted") != std::string::npos ||
                         row.name.find("laguerre") != std::string::npos;
    const bool grows = row.name.find("hermite") != std::string::npos;
    if (shifted) row.samples.back()[0].low = 0;
    if (grows) row.samples.pop_back();  // beyond float
  }
  return rows;
}

}  // namespace

std::vector<OpRow> special_function_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {&bessel_rows, &normal_rows, &gamma_rows, &polynomial_rows})
    for (OpRow& row : part()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
