// Rows of special functions, statistics, and parts of tensors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/reduce/statistics.h"
#include "tests/ops/fibres.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

const double kPi = std::acos(-1.0);

/// Digamma by its series of differences: Taylor-free, from 30 places further on.
double psi(double x) {
  double below = 0;
  for (int k = 0; k < 30; ++k) below += 1 / (x + k);
  const double y = x + 30, z = 1 / (y * y);
  return std::log(y) - 0.5 / y - z / 12 + z * z / 120 - z * z * z / 252 - below;
}

/// The n-th derivative of digamma as a sum to which the rest is an integral.
double psi_n(int n, double x) {
  double sum = 0;
  for (int k = 0; k < 2000; ++k) sum += std::pow(x + k, -n - 1);
  const double y = x + 2000;
  sum += std::pow(y, -n) / n + 0.5 * std::pow(y, -n - 1) + (n + 1) / 12.0 * std::pow(y, -n - 2);
  return sum * std::tgamma(n + 1) * (n % 2 == 0 ? -1 : 1);
}

double erf_inverse(double x) {
  double low = -6, high = 6;
  for (int i = 0; i < 200; ++i) (std::erf((low + high) / 2) < x ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

double log_of_two(double a, double b) {
  return a == b && std::isinf(a) ? a : std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
}

int64_t whole(double x) { return static_cast<int64_t>(x); }

OpRow unary(const char* name, Tensor (Tensor::*method)() const, double (*f)(double), double low,
            double high, Tensor& (Tensor::*in_place)() const = nullptr, bool specials = false) {
  Elementwise e;
  e.name = name;
  e.call = [method](const Tensors& t) { return (t[0].*method)(); };
  e.formula = [f](const double* a) { return f(a[0]); };
  e.args = {real({}, low, high)};
  if (in_place) e.in_place = [in_place](const Tensors& t) { return (t[0].*in_place)(); };
  e.tolerance = 4;
  e.specials = specials;
  return elementwise(e);
}

OpRow answer(const char* name, Tensor (Tensor::*method)() const, double (*f)(double)) {
  OpRow row = unary(name, method, f, -2, 2, nullptr, true);
  row.dtypes = kReals;
  row.differentiable = false;
  return row;
}

using Binary = Tensor (*)(const Tensor&, const Tensor&);

OpRow binary(const char* name, Binary op, double (*f)(double, double), Arg a, Arg b,
             unsigned dtypes = kFloats,
             Tensor& (Tensor::*in_place)(const Tensor&) const = nullptr) {
  Elementwise e;
  e.name = name;
  e.call = [op](const Tensors& t) { return op(t[0], t[1]); };
  e.formula = [f](const double* x) { return f(x[0], x[1]); };
  e.args = {a, b};
  e.dtypes = dtypes;
  if (in_place) e.in_place = [in_place](const Tensors& t) { return (t[0].*in_place)(t[1]); };
  e.tolerance = 4;
  e.specials = false;
  return elementwise(e);
}

std::vector<OpRow> of_one() {
  std::vector<OpRow> rows = {
      unary(
          "acosh", &Tensor::acosh, [](double x) { return std::acosh(x); }, 1.2, 4, &Tensor::acosh_,
          true),
      unary(
          "asinh", &Tensor::asinh, [](double x) { return std::asinh(x); }, -3, 3, &Tensor::asinh_,
          true),
      unary(
          "atanh", &Tensor::atanh, [](double x) { return std::atanh(x); }, -0.9, 0.9,
          &Tensor::atanh_, true),
      unary(
          "lgamma", &Tensor::lgamma, [](double x) { return std::lgamma(x); }, 0.5, 4,
          &Tensor::lgamma_, true),
      unary("digamma", &Tensor::digamma, &psi, 0.5, 4, &Tensor::digamma_),
      unary("erfinv", &Tensor::erfinv, &erf_inverse, -0.9, 0.9, &Tensor::erfinv_),
      unary(
          "sinc", &Tensor::sinc,
          [](double x) { return x == 0 ? 1.0 : std::sin(kPi * x) / (kPi * x); }, 0.2, 2,
          &Tensor::sinc_),
      unary(
          "sgn", &Tensor::sgn, [](double x) { return double((x > 0) - (x < 0)); }, -2, 2,
          &Tensor::sgn_, true),
      unary(
          "deg2rad", &Tensor::deg2rad, [](double x) { return x * kPi / 180; }, -300, 300,
          &Tensor::deg2rad_),
      unary(
          "rad2deg", &Tensor::rad2deg, [](double x) { return x * 180 / kPi; }, -3, 3,
          &Tensor::rad2deg_),
      unary(
          "positive", &Tensor::positive, [](double x) { return x; }, -2, 2, nullptr, true),
      answer("signbit", &Tensor::signbit, [](double x) { return std::signbit(x) ? 1.0 : 0.0; }),
      answer("isneginf", &Tensor::isneginf, [](double x) { return x == -INFINITY ? 1.0 : 0.0; }),
      answer("isposinf", &Tensor::isposinf, [](double x) { return x == INFINITY ? 1.0 : 0.0; }),
      answer("isreal", &Tensor::isreal, [](double) { return 1.0; }),
  };
  const auto add = [&](std::string name, std::function<Tensor(const Tensors&)> call,
                       double (*f)(double), double low, double high, unsigned dtypes) {
    Elementwise e;
    e.name = std::move(name);
    e.call = std::move(call);
    e.formula = [f](const double* a) { return f(a[0]); };
    e.args = {real({}, low, high)};
    e.dtypes = dtypes;
    e.tolerance = 8;
    e.specials = false;
    rows.push_back(elementwise(e));
  };
  add(
      "polygamma.1", [](const Tensors& t) { return t[0].polygamma(1); },
      [](double x) { return psi_n(1, x); }, 0.5, 4, kFloats);
  add(
      "polygamma.2", [](const Tensors& t) { return polygamma(2, t[0]); },
      [](double x) { return psi_n(2, x); }, 0.5, 4, kFloats);
  add(
      "logit", [](const Tensors& t) { return t[0].logit(); },
      [](double x) { return std::log(x / (1 - x)); }, 0.1, 0.9, kFloats);
  rows.back().in_place = [](const Tensors& t) { return t[0].logit_(); };
  add(
      "logit.eps", [](const Tensors& t) { return t[0].logit(0.25); },
      [](double x) {
        x = std::clamp(x, 0.25, 0.75);
        return std::log(x / (1 - x));
      },
      0, 1, kFloats);
  return rows;
}

std::vector<OpRow> of_two() {
  const Arg any = real({}), above = real({}, 0.5, 2);
  std::vector<OpRow> rows = {
      binary(
          "copysign", Binary(&copysign), [](double a, double b) { return std::copysign(a, b); },
          real({}, 0.2, 2), above, kFloats, &Tensor::copysign_),
      binary(
          "nextafter", &nextafter, [](double a, double b) { return a < b ? a : a; }, any, any,
          kWide, &Tensor::nextafter_),
      binary(
          "fmax", &fmax, [](double a, double b) { return std::fmax(a, b); }, any, any, kReals),
      binary(
          "fmin", &fmin, [](double a, double b) { return std::fmin(a, b); }, any, any, kReals),
      binary(
          "heaviside", &heaviside, [](double a, double b) { return a == 0 ? b : double(a > 0); },
          any, any, kReals, &Tensor::heaviside_),
      binary("logaddexp", &logaddexp, &log_of_two, any, any),
      binary(
          "logaddexp2", &logaddexp2,
          [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); }, any, any),
      binary(
          "xlogy", Binary(&xlogy), [](double a, double b) { return a * std::log(b); }, any, above,
          kFloats, &Tensor::xlogy_),
      binary(
          "float_power", Binary(&float_power), [](double a, double b) { return std::pow(a, b); },
          above, any, kReals),
      binary(
          "ldexp", &ldexp, [](double a, double b) { return a * std::exp2(b); }, any, any, kFloats,
          &Tensor::ldexp_),
      binary(
          "gcd", &gcd, [](double a, double b) { return double(std::gcd(whole(a), whole(b))); },
          real({}, -40, 40), real({}, -40, 40), kInts),
      binary(
          "lcm", &lcm, [](double a, double b) { return double(std::lcm(whole(a), whole(b))); },
          real({}, -10, 10), real({}, -10, 10), kInts),
      binary(
          "bitwise_left_shift", Binary(&bitwise_left_shift),
          [](double a, double b) { return a * std::exp2(b); }, real({}, 0, 15), real({}, 0, 3),
          kInts),
      binary(
          "bitwise_right_shift", Binary(&bitwise_right_shift),
          [](double a, double b) { return std::floor(a / std::exp2(b)); }, real({}, 0, 100),
          real({}, 0, 3), kInts),
  };
  for (OpRow& row : rows)
    if (row.dtypes == kInts || row.name == "heaviside" || row.name == "nextafter")
      row.differentiable = false;
  for (OpRow& row : rows)
    if (row.name == "fmax" || row.name == "fmin" || row.name == "float_power")
      row.in_place = nullptr;
  return rows;
}

// ---- statistics: samples are [3, 4] matrices ----

OpRow general(std::string name, Sample sample, std::function<Tensor(const Tensors&)> call,
              std::function<Array(const Arrays&)> reference, std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.samples = {std::move(sample)};
  row.call = [call](const Tensors& t) { return Tensors{call(t)}; };
  row.reference = [reference](const Arrays& a) { return Arrays{reference(a)}; };
  row.dtypes = kWide;
  row.tolerance = 8;
  row.covers = std::move(covers);
  return row;
}

/// `f` of every row of a matrix.
std::function<Array(const Arrays&)> by_rows(std::function<Fibre(Fibre)> f, bool keep = true) {
  return [f, keep](const Arrays& in) {
    const int64_t rows = in[0].sizes[0], n = in[0].sizes[1];
    Array out{{rows}, {}};
    for (int64_t i = 0; i < rows; ++i) {
      const auto first = in[0].data.begin() + i * n;
      const Fibre part = f(Fibre(first, first + n));
      out.data.insert(out.data.end(), part.begin(), part.end());
    }
    if (keep) out.sizes.push_back(out.numel() / rows);
    return out;
  };
}

double covariance(const Array& x, int64_t i, int64_t j) {
  const int64_t n = x.sizes[1];
  double mi = 0, mj = 0, sum = 0;
  for (int64_t k = 0; k < n; ++k) mi += x.at({i, k}) / double(n), mj += x.at({j, k}) / double(n);
  for (int64_t k = 0; k < n; ++k) sum += (x.at({i, k}) - mi) * (x.at({j, k}) - mj);
  return sum / double(n - 1);
}

std::vector<OpRow> statistics_along_rows() {
  const Sample matrix = {real({3, 4})};
  const auto sum = [](const Fibre& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
  std::vector<OpRow> rows = {
      general(
          "nansum", matrix, [](const Tensors& t) { return t[0].nansum({1}); },
          by_rows([=](Fibre x) { return Fibre{sum(x)}; }, false)),
      general(
          "nanmean", matrix, [](const Tensors& t) { return t[0].nanmean({1}); },
          by_rows([=](Fibre x) { return Fibre{sum(x) / 4}; }, false)),
      general(
          "nanmedian", matrix, [](const Tensors& t) { return std::get<0>(t[0].nanmedian(1)); },
          by_rows(
              [](Fibre x) {
                std::sort(x.begin(), x.end());
                return Fibre{x[1]};
              },
              false)),
      general(
          "quantile", matrix, [](const Tensors& t) { return t[0].quantile(0.25, 1); },
          by_rows(
              [](Fibre x) {
                std::sort(x.begin(), x.end());
                return Fibre{0.25 * x[0] + 0.75 * x[1]};
              },
              false)),
      general(
          "nanquantile", matrix,
          [](const Tensors& t) { return t[0].nanquantile(0.5, 1, true, "higher"); },
          by_rows([](Fibre x) {
            std::sort(x.begin(), x.end());
            return Fibre{x[2]};
          })),
      general(
          "logcumsumexp", matrix, [](const Tensors& t) { return t[0].logcumsumexp(1); },
          by_rows([](Fibre x) {
            double total = 0;
            for (double& v : x) v = std::log(total += std::exp(v));
            return x;
          })),
      general(
          "diff", matrix, [](const Tensors& t) { return t[0].diff(2, 1); }, by_rows([](Fibre x) {
            return Fibre{x[2] - 2 * x[1] + x[0], x[3] - 2 * x[2] + x[1]};
          })),
      general(
          "trapezoid", matrix, [](const Tensors& t) { return trapezoid(t[0], 0.5, 1); },
          by_rows([](Fibre x) { return Fibre{0.25 * x[0] + 0.5 * (x[1] + x[2]) + 0.25 * x[3]}; },
                  false),
          {"trapz"}),
      general(
          "cumulative_trapezoid", matrix,
          [](const Tensors& t) { return cumulative_trapezoid(t[0], 2, 1); }, by_rows([](Fibre x) {
            const double a = x[0] + x[1], b = a + x[1] + x[2];
            return Fibre{a, b, b + x[2] + x[3]};
          })),
      general(
          "renorm", matrix, [](const Tensors& t) { return t[0].renorm(2, 0, 1.5); },
          by_rows([](Fibre x) {
            const double size = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
            for (double& v : x) v *= size > 1.5 ? 1.5 / (size + 1e-7) : 1;
            return x;
          })),
  };
  rows.back().in_place = [](const Tensors& t) { return t[0].renorm_(2, 0, 1.5); };
  return rows;
}

std::vector<OpRow> statistics_of_pairs() {
  const Sample matrix = {real({3, 4})}, pair = {real({3, 4}), real({2, 4})};
  const auto table = [](int64_t rows, int64_t columns, auto f) {
    Array out{{rows, columns}, {}};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) out.data.push_back(f(i, j));
    return out;
  };
  const auto distances = [=](const Arrays& in) {
    return table(3, 2, [&](int64_t i, int64_t j) {
      double sum = 0;
      for (int64_t k = 0; k < 4; ++k) sum += std::pow(in[0].at({i, k}) - in[1].at({j, k}), 2);
      return std::sqrt(sum);
    });
  };
  std::vector<OpRow> rows = {
      general(
          "cov", matrix, [](const Tensors& t) { return t[0].cov(); },
          [=](const Arrays& in) {
            return table(3, 3, [&](int64_t i, int64_t j) { return covariance(in[0], i, j); });
          }),
      general(
          "corrcoef", matrix, [](const Tensors& t) { return t[0].corrcoef(); },
          [=](const Arrays& in) {
            return table(3, 3, [&](int64_t i, int64_t j) {
              return covariance(in[0], i, j) /
                     std::sqrt(covariance(in[0], i, i) * covariance(in[0], j, j));
            });
          }),
      general(
          "cdist", pair, [](const Tensors& t) { return cdist(t[0], t[1]); }, distances),
      general(
          "cdist_by_product", pair, [](const Tensors& t) { return cdist(t[0], t[1], 2, 1); },
          distances),
      general(
          "inner", pair, [](const Tensors& t) { return t[0].inner(t[1]); },
          [=](const Arrays& in) {
            return table(3, 2, [&](int64_t i, int64_t j) {
              double sum = 0;
              for (int64_t k = 0; k < 4; ++k) sum += in[0].at({i, k}) * in[1].at({j, k});
              return sum;
            });
          }),
      general(
          "dist", {real({3, 4}), real({3, 4})}, [](const Tensors& t) { return t[0].dist(t[1], 1); },
          [](const Arrays& in) {
            double sum = 0;
            for (size_t i = 0; i < 12; ++i) sum += std::fabs(in[0].data[i] - in[1].data[i]);
            return array({}, {sum});
          }),
      general(
          "trace", matrix, [](const Tensors& t) { return t[0].trace(); },
          [](const Arrays& in) {
            return array({}, {in[0].data[0] + in[0].data[5] + in[0].data[10]});
          }),
      general(
          "msort", matrix, [](const Tensors& t) { return msort(t[0]); },
          [](const Arrays& in) {
            Array out = in[0];
            for (size_t j = 0; j < 4; ++j) {
              Fibre column = {out.data[j], out.data[4 + j], out.data[8 + j]};
              std::sort(column.begin(), column.end());
              for (size_t i = 0; i < 3; ++i) out.data[4 * i + j] = column[i];
            }
            return out;
          }),
      general(
          "histc", matrix, [](const Tensors& t) { return t[0].histc(4, -1, 1); },
          [](const Arrays& in) {
            Array out{{4}, Fibre(4)};
            for (double x : in[0].data)
              if (x >= -1 && x <= 1) out.data[std::min(3, int(std::floor((x + 1) * 2)))] += 1;
            return out;
          }),
  };
  rows.back().differentiable = false;
  return rows;
}

}  // namespace

std::vector<OpRow> special_rows() {
  std::vector<OpRow> rows = of_one();
  for (auto family : {&of_two, &statistics_along_rows, &statistics_of_pairs})
    for (OpRow& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
