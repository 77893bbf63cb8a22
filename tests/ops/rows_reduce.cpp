// Reductions, cumulative operations and softmax.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "tests/ops/fibres.h"

namespace taeda::testing {

namespace {

double total(const Fibre& x) { return std::accumulate(x.begin(), x.end(), 0.0); }
double average(const Fibre& x) { return total(x) / static_cast<double>(x.size()); }
double product(const Fibre& x) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
}
double maximum(const Fibre& x) { return *std::max_element(x.begin(), x.end()); }
double smallest(const Fibre& x) { return *std::min_element(x.begin(), x.end()); }
double variance(const Fibre& x) {
  const double m = average(x);
  double s = 0;
  for (const double v : x) s += (v - m) * (v - m);
  return s / static_cast<double>(x.size() - 1);
}
double deviation(const Fibre& x) { return std::sqrt(variance(x)); }
double middle(Fibre x) {
  std::sort(x.begin(), x.end());
  return x[(x.size() - 1) / 2];
}
double log_sum(const Fibre& x) {
  double s = 0;
  for (const double v : x) s += std::exp(v);
  return std::log(s);
}
double norm_of(const Fibre& x, double p) {
  if (p == 0)
    return static_cast<double>(x.size() - static_cast<size_t>(std::count(x.begin(), x.end(), 0.0)));
  double s = p == -INFINITY ? INFINITY : 0;
  for (const double v : x) {
    if (p == INFINITY)
      s = std::max(s, std::fabs(v));
    else if (p == -INFINITY)
      s = std::min(s, std::fabs(v));
    else
      s += std::pow(std::fabs(v), p);
  }
  return std::isinf(p) ? s : std::pow(s, 1 / p);
}
FibreFn one(double (*f)(const Fibre&)) {
  return [f](const Fibre& x) { return Fibre{f(x)}; };
}
Fibre position(const Fibre& x, double value) {
  return {static_cast<double>(std::find(x.begin(), x.end(), value) - x.begin())};
}

const std::vector<Sample> kSamples = {
    {real({3, 4})}, {real({2, 5, 3})}, {real({9, 5})}, {real({2, 70})}};

/// A reduction over everything, over dimension 1 and, where there is a form for it, over several.
struct Reduction {
  const char* name;
  Tensor (*all)(const Tensor&);
  Tensor (*dim)(const Tensor&, int64_t dim);
  double (*reference)(const Fibre&);
  unsigned dtypes = kFloats;
  bool differentiable = true;
  double tolerance = 4;
};

const Reduction kReductions[] = {
    {"sum", [](const Tensor& t) { return sum(t); },
     [](const Tensor& t, int64_t d) { return sum(t, d); }, &total, kReals},
    {"mean", [](const Tensor& t) { return mean(t); },
     [](const Tensor& t, int64_t d) { return mean(t, d); }, &average},
    {"amax", [](const Tensor& t) { return amax(t); },
     [](const Tensor& t, int64_t d) { return amax(t, d); }, &maximum, kReals},
    {"amin", [](const Tensor& t) { return amin(t); },
     [](const Tensor& t, int64_t d) { return amin(t, d); }, &smallest, kReals},
    {"max.value", [](const Tensor& t) { return max(t); },
     [](const Tensor& t, int64_t d) { return std::get<0>(max(t, d)); }, &maximum, kReals},
    {"min.value", [](const Tensor& t) { return min(t); },
     [](const Tensor& t, int64_t d) { return std::get<0>(min(t, d)); }, &smallest, kReals},
    {"median.value", [](const Tensor& t) { return median(t); },
     [](const Tensor& t, int64_t d) { return std::get<0>(median(t, d)); },
     [](const Fibre& x) { return middle(x); }, kReals},
    {"var", [](const Tensor& t) { return var(t); },
     [](const Tensor& t, int64_t d) { return var(t, d); }, &variance},
    {"std", [](const Tensor& t) { return taeda::std(t); },
     [](const Tensor& t, int64_t d) { return taeda::std(t, d); }, &deviation},
    {"logsumexp", [](const Tensor& t) { return logsumexp(t, {}); },
     [](const Tensor& t, int64_t d) { return logsumexp(t, d); }, &log_sum},
    {"any", [](const Tensor& t) { return any(t); },
     [](const Tensor& t, int64_t d) { return any(t, d); },
     [](const Fibre& x) { return static_cast<double>(norm_of(x, 0) > 0); }, kReals, false},
    {"all", [](const Tensor& t) { return all(t); },
     [](const Tensor& t, int64_t d) { return all(t, d); },
     [](const Fibre& x) {
       return static_cast<double>(norm_of(x, 0) == static_cast<double>(x.size()));
     },
     kReals, false},
    {"count_nonzero", [](const Tensor& t) { return count_nonzero(t); },
     [](const Tensor& t, int64_t d) { return count_nonzero(t, d); },
     [](const Fibre& x) { return norm_of(x, 0); }, kReals, false},
    {"argmax", [](const Tensor& t) { return argmax(t); },
     [](const Tensor& t, int64_t d) { return argmax(t, d); },
     [](const Fibre& x) { return position(x, maximum(x))[0]; }, kReals, false},
    {"argmin", [](const Tensor& t) { return argmin(t); },
     [](const Tensor& t, int64_t d) { return argmin(t, d); },
     [](const Fibre& x) { return position(x, smallest(x))[0]; }, kReals, false},
};

void add_reductions(std::vector<OpRow>& rows) {
  for (const Reduction& r : kReductions) {
    OpRow row;
    row.samples = kSamples;
    row.dtypes = r.dtypes;
    row.differentiable = row.second_derivative = r.differentiable;
    row.tolerance = r.tolerance;
    row.name = r.name;
    row.call = [r](const Tensors& t) { return Tensors{r.all(t[0])}; };
    row.reference = [r](const Arrays& a) { return Arrays{overall(a[0], one(r.reference))}; };
    rows.push_back(row);
    for (const int64_t dim : {0, 1}) {
      row.name = std::string(r.name) + ".dim" + std::to_string(dim);
      row.call = [r, dim](const Tensors& t) { return Tensors{r.dim(t[0], dim)}; };
      row.reference = [r, dim](const Arrays& a) {
        return Arrays{along(a[0], static_cast<size_t>(dim), one(r.reference), true)};
      };
      rows.push_back(row);
    }
  }
}

void add_products(std::vector<OpRow>& rows) {
  OpRow row;
  row.samples = {{real({3, 4}, 0.5, 1.5)}, {real({2, 3, 2}, 0.5, 1.5)}};
  row.tolerance = 8;
  row.name = "prod";
  row.call = [](const Tensors& t) { return Tensors{prod(t[0])}; };
  row.reference = [](const Arrays& a) { return Arrays{overall(a[0], one(&product))}; };
  rows.push_back(row);
  row.name = "prod.dim";
  row.call = [](const Tensors& t) { return Tensors{prod(t[0], 1, true)}; };
  row.reference = [](const Arrays& a) { return Arrays{along(a[0], 1, one(&product))}; };
  rows.push_back(row);
  row.name = "prod.zeros";  // one factor, or two, are zero
  row.call = [](const Tensors& t) {
    return Tensors{prod(t[0].mul(t[0].gt(0.8).to(t[0].dtype())), 1)};
  };
  row.reference = [](const Arrays& a) {
    return Arrays{along(
        a[0], 1,
        [](Fibre x) {
          for (double& v : x) v = v > 0.8 ? v : 0;
          return Fibre{product(x)};
        },
        true)};
  };
  rows.push_back(row);
}

void add_norms(std::vector<OpRow>& rows) {
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, double(INFINITY), double(-INFINITY)}) {
    OpRow row;
    row.samples = {{real({3, 4}, 0.3, 2)}, {real({2, 5, 3}, -2, -0.3)}};
    row.tolerance = 16;
    row.second_derivative = p != 0 && !std::isinf(p);
    row.name = "norm.p" + std::to_string(p);
    row.covers = {"vector_norm"};
    row.call = [p](const Tensors& t) {
      return Tensors{norm(t[0], p), norm(t[0], p, 1), vector_norm(t[0], p, 0, true)};
    };
    row.reference = [p](const Arrays& a) {
      const FibreFn f = [p](const Fibre& x) { return Fibre{norm_of(x, p)}; };
      return Arrays{overall(a[0], f), along(a[0], 1, f, true), along(a[0], 0, f)};
    };
    rows.push_back(row);
  }
}

void add_pairs(std::vector<OpRow>& rows) {
  OpRow row;
  row.samples = kSamples;
  row.tolerance = 8;
  row.name = "var_mean";
  row.covers = {"std_mean", "var_correction", "std_correction", "sum_to_size", "aminmax"};
  row.call = [](const Tensors& t) {
    const auto [v, m] = var_mean(t[0], 1);
    const auto [s, m2] = std_mean(t[0], 1, false, true);
    const auto [low, high] = aminmax(t[0], 1);
    return Tensors{v,   m,   s, m2, var_correction(t[0], 1, 1.5), std_correction(t[0], 1, 0, true),
                   low, high};
  };
  row.reference = [](const Arrays& a) {
    const auto scaled = [](double by) {
      return [by](const Fibre& x) {
        const double n = static_cast<double>(x.size());
        return Fibre{variance(x) * (n - 1) / (n - by)};
      };
    };
    const FibreFn biased = [](const Fibre& x) {
      return Fibre{std::sqrt(variance(x) * static_cast<double>(x.size() - 1) /
                             static_cast<double>(x.size()))};
    };
    return Arrays{along(a[0], 1, one(&variance), true),
                  along(a[0], 1, one(&average), true),
                  along(a[0], 1, biased),
                  along(a[0], 1, one(&average)),
                  along(a[0], 1, scaled(1.5), true),
                  along(a[0], 1, biased),
                  along(a[0], 1, one(&smallest), true),
                  along(a[0], 1, one(&maximum), true)};
  };
  rows.push_back(row);
}

Fibre running(const Fibre& x, double (*f)(const Fibre&)) {
  Fibre y;
  for (size_t i = 1; i <= x.size(); ++i)
    y.push_back(f(Fibre(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(i))));
  return y;
}
Fibre exponentials(const Fibre& x) {
  Fibre y;
  for (const double v : x) y.push_back(std::exp(v - log_sum(x)));
  return y;
}

void add_along(std::vector<OpRow>& rows, const char* name,
               std::function<Tensor(const Tensor&, int64_t)> call, FibreFn f,
               std::vector<std::string> covers = {}) {
  for (const int64_t dim : {0, 1}) {
    OpRow row;
    row.name = std::string(name) + ".dim" + std::to_string(dim);
    row.covers = covers;
    row.samples = {{real({3, 4})},  {real({2, 5, 3})}, {real({20, 2})},
                   {real({2, 70})}, {real({1, 130})},  {real({3, 0})}};
    row.tolerance = 8;
    row.call = [call, dim](const Tensors& t) { return Tensors{call(t[0], dim)}; };
    row.reference = [f, dim](const Arrays& a) {
      return Arrays{along(a[0], static_cast<size_t>(dim), f)};
    };
    rows.push_back(row);
  }
}

}  // namespace

std::vector<OpRow> reduce_rows() {
  std::vector<OpRow> rows;
  add_reductions(rows);
  add_products(rows);
  add_norms(rows);
  add_pairs(rows);
  add_along(
      rows, "cumsum", [](const Tensor& t, int64_t d) { return cumsum(t, d); },
      [](const Fibre& x) { return running(x, &total); });
  add_along(
      rows, "cumprod", [](const Tensor& t, int64_t d) { return cumprod(t.mul(0.1).add(1), d); },
      [](Fibre x) {
        for (double& v : x) v = 0.1 * v + 1;
        return running(x, &product);
      });
  add_along(
      rows, "cummax", [](const Tensor& t, int64_t d) { return std::get<0>(cummax(t, d)); },
      [](const Fibre& x) { return running(x, &maximum); });
  add_along(
      rows, "cummin", [](const Tensor& t, int64_t d) { return std::get<0>(cummin(t, d)); },
      [](const Fibre& x) { return running(x, &smallest); });
  add_along(
      rows, "softmax", [](const Tensor& t, int64_t d) { return softmax(t, d); }, &exponentials);
  add_along(
      rows, "softmin", [](const Tensor& t, int64_t d) { return softmin(t.neg(), d); },
      &exponentials);
  add_along(
      rows, "log_softmax", [](const Tensor& t, int64_t d) { return log_softmax(t, d); },
      [](Fibre x) {
        const double s = log_sum(x);
        for (double& v : x) v -= s;
        return x;
      });
  return rows;
}

}  // namespace taeda::testing
