// Rows of counting, choosing and replacing, of sequences, and of slopes.
#include <algorithm>
#include <cmath>
#include <map>

#include "taeda/ops/create/create.h"
#include "taeda/ops/create/sequences.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/reduce/selection.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

OpRow plain_row(const std::string& name, std::function<Tensors(const Tensors&)> call,
                std::vector<Sample> samples, std::function<Arrays(const Arrays&)> reference,
                unsigned dtypes = kFloats) {
  OpRow row;
  row.name = name;
  row.call = std::move(call);
  row.samples = std::move(samples);
  row.reference = std::move(reference);
  row.dtypes = dtypes;
  return row;
}

Arrays most_common(const Arrays& in) {
  const Array& x = in[0];
  Array values = array({x.sizes[0]}, {}), places = values;
  for (int64_t i = 0; i < x.sizes[0]; ++i) {
    std::map<double, int64_t> count;
    for (int64_t k = 0; k < x.sizes[1]; ++k) ++count[x.at({i, k})];
    double best = count.begin()->first;
    for (const auto& [value, n] : count)
      if (n > count[best]) best = value;
    double last = 0;
    for (int64_t k = 0; k < x.sizes[1]; ++k)
      if (x.at({i, k}) == best) last = static_cast<double>(k);
    values.data.push_back(best);
    places.data.push_back(last);
  }
  return {values, places};
}

std::vector<OpRow> choosing_rows() {
  std::vector<OpRow> rows;
  rows.push_back(plain_row(
      "mode",
      [](const Tensors& t) {
        const auto [values, indices] = mode(t[0], 1);
        return Tensors{values, indices};
      },
      {{real({3, 7}, 0, 3)}, {real({2, 1})}}, &most_common, kReals));
  for (const std::string reduce : {"prod", "mean", "amax", "amin"})
    rows.push_back(plain_row(
        "index_reduce." + reduce,
        [reduce](const Tensors& t) {
          const Tensor index = tensor({2, 0, 2}).to(t[0].device());
          return Tensors{index_reduce(t[0], 1, index, t[1], reduce)};
        },
        {{real({2, 4}, 0.5, 2), real({2, 3}, 0.5, 2)}},
        [reduce](const Arrays& in) {
          Array out = in[0];
          const int64_t index[] = {2, 0, 2};
          for (int64_t i = 0; i < 2; ++i) {
            double count[4] = {1, 1, 1, 1};
            for (int64_t k = 0; k < 3; ++k) {
              double& place = out.at({i, index[k]});
              const double x = in[1].at({i, k});
              place = reduce == "prod"   ? place * x
                      : reduce == "mean" ? place + x
                      : reduce == "amax" ? std::max(place, x)
                                         : std::min(place, x);
              ++count[index[k]];
            }
            if (reduce == "mean")
              for (int64_t k = 0; k < 4; ++k) out.at({i, k}) /= count[k];
          }
          return Arrays{out};
        }));
  rows.push_back(plain_row(
      "as_strided_scatter",
      [](const Tensors& t) {
        return Tensors{as_strided_scatter(t[0].contiguous(), t[1], {2, 2}, {4, 2}, 1)};
      },
      {{real({3, 4}), real({2, 2})}},
      [](const Arrays& in) {
        Array out = in[0];
        for (size_t i = 0; i < 4; ++i) out.data[1 + i / 2 * 4 + i % 2 * 2] = in[1].data[i];
        return Arrays{out};
      },
      kReals));
  return rows;
}

Arrays count_in_bins(const Arrays& in) {
  const Array &x = in[0], &weight = in[1];
  const std::vector<double> edges = {-1.5, -0.5, 0.25, 2};
  Array hist = array({3}, {0, 0, 0});
  for (size_t i = 0; i < x.data.size(); ++i)
    for (size_t b = 0; b < 3; ++b)
      if (x.data[i] >= edges[b] && x.data[i] < edges[b + 1]) hist.data[b] += weight.data[i];
  return {hist, array({4}, edges)};
}

double column_power(double x, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) product *= x;
  return product;
}

std::vector<OpRow> counting_rows() {
  std::vector<OpRow> rows;
  OpRow counts = plain_row(
      "histogram",
      [](const Tensors& t) {
        const Tensor edges =
            tensor({-1.5, -0.5, 0.25, 2.0}).to(t[0].options().requires_grad(false));
        const auto [hist, used] = histogram(t[0], edges, t[1]);
        return Tensors{hist, used};
      },
      {{real({40}), real({40}, 0, 1)}, {real({0}), real({0})}}, &count_in_bins, kWide);
  counts.differentiable = false;
  rows.push_back(counts);
  rows.push_back(plain_row(
      "frexp",
      [](const Tensors& t) {
        const auto [mantissa, exponent] = frexp(t[0]);
        return Tensors{mantissa, exponent};
      },
      {{real({30}, -9, 9)}, {real({2, 3}, 0.01, 0.2)}},
      [](const Arrays& in) {
        Array mantissa = in[0], exponent = in[0];
        for (size_t i = 0; i < in[0].data.size(); ++i) {
          int e = 0;
          mantissa.data[i] = std::frexp(in[0].data[i], &e);
          exponent.data[i] = e;
        }
        return Arrays{mantissa, exponent};
      }));
  rows.push_back(plain_row(
      "vander",
      [](const Tensors& t) {
        return Tensors{vander(t[0]), vander(t[0], 2, true)};
      },
      {{real({4})}},
      [](const Arrays& in) {
        Array falling = array({4, 4}, {}), rising = array({4, 2}, {});
        for (const double x : in[0].data) {
          for (int64_t n = 3; n >= 0; --n) falling.data.push_back(column_power(x, n));
          rising.data.insert(rising.data.end(), {1, x});
        }
        return Arrays{falling, rising};
      },
      kFloats));
  for (const char* name : {"conj_physical", "resolve_conj", "resolve_neg"})
    rows.push_back(plain_row(
        name,
        [name = std::string(name)](const Tensors& t) {
          return Tensors{name == "conj_physical"  ? conj_physical(t[0]).clone()
                         : name == "resolve_conj" ? resolve_conj(t[0]).clone()
                                                  : resolve_neg(t[0]).clone()};
        },
        {{real({3, 2})}}, [](const Arrays& in) { return in; }, kReals));
  return rows;
}

std::vector<OpRow> distance_rows() {
  return {
      plain_row(
          "pdist", [](const Tensors& t) { return Tensors{pdist(t[0], 3)}; }, {{real({4, 3})}},
          [](const Arrays& in) {
            Array out = array({6}, {});
            for (int64_t i = 0; i < 4; ++i)
              for (int64_t j = i + 1; j < 4; ++j) {
                double sum = 0;
                for (int64_t k = 0; k < 3; ++k)
                  sum += std::pow(std::fabs(in[0].at({i, k}) - in[0].at({j, k})), 3);
                out.data.push_back(std::cbrt(sum));
              }
            return Arrays{out};
          },
          kWide),
      plain_row(
          "norm_except_dim", [](const Tensors& t) { return Tensors{norm_except_dim(t[0], 2, 1)}; },
          {{real({4, 3, 2})}},
          [](const Arrays& in) {
            Array out = array({1, 3, 1}, {});
            for (int64_t j = 0; j < 3; ++j) {
              double sum = 0;
              for (int64_t i = 0; i < 4; ++i)
                for (int64_t k = 0; k < 2; ++k) sum += std::pow(in[0].at({i, j, k}), 2);
              out.data.push_back(std::sqrt(sum));
            }
            return Arrays{out};
          })};
}

/// The slope at `x` of the parabola through three points, or of the line through two.
double slope_at(const std::vector<double>& px, const std::vector<double>& py, double x) {
  if (px.size() == 2) return (py[1] - py[0]) / (px[1] - px[0]);
  double sum = 0;  // Lagrange's polynomials, differentiated
  for (size_t i = 0; i < 3; ++i) {
    const double a = px[(i + 1) % 3], b = px[(i + 2) % 3];
    sum += py[i] * (2 * x - a - b) / ((px[i] - a) * (px[i] - b));
  }
  return sum;
}

std::vector<double> slopes_of(const std::vector<double>& x, const std::vector<double>& y,
                              int edge_order) {
  std::vector<double> out;
  const size_t n = x.size(), edge = edge_order == 1 ? 2 : 3;
  for (size_t i = 0; i < n; ++i) {
    const bool first = i == 0, last = i + 1 == n;
    const size_t count = first || last ? edge : 3, from = first ? 0 : last ? n - edge : i - 1;
    const auto part = [&](const std::vector<double>& v) {
      return std::vector<double>(v.begin() + static_cast<long>(from),
                                 v.begin() + static_cast<long>(from + count));
    };
    out.push_back(slope_at(part(x), part(y), x[i]));
  }
  return out;
}

OpRow slope_row(const std::string& name, bool even, int edge_order) {
  const std::vector<double> places =
      even ? std::vector<double>{0, 0.5, 1, 1.5, 2} : std::vector<double>{0, 0.25, 1, 1.75, 3};
  return plain_row(
      name,
      [=](const Tensors& t) {
        if (even) return gradient(t[0], 0.5, IntArrayRef{1}, edge_order);
        const Tensor x = tensor(places).to(t[0].options().requires_grad(false));
        return gradient(t[0], TensorList{x}, IntArrayRef{1}, edge_order);
      },
      {{real({2, 5})}},
      [=](const Arrays& in) {
        Array out = array({2, 5}, {});
        for (size_t i = 0; i < 2; ++i) {
          const auto begin = in[0].data.begin() + static_cast<long>(5 * i);
          for (const double s : slopes_of(places, {begin, begin + 5}, edge_order))
            out.data.push_back(s);
        }
        return Arrays{out};
      },
      kWide);
}

double bessel_zero(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 80; ++k) sum += term *= x * x / (4.0 * k * k);
  return sum;
}

std::vector<OpRow> sequence_rows() {
  OpRow steps = plain_row(
      "range",
      [](const Tensors& t) {
        return Tensors{range(1, 2, 0.25, t[0].options().requires_grad(false))};
      },
      {{real({1})}},
      [](const Arrays&) {
        return Arrays{array({5}, {1, 1.25, 1.5, 1.75, 2})};
      });
  OpRow window = plain_row(
      "kaiser_window",
      [](const Tensors& t) {
        return Tensors{kaiser_window(6, false, 8.5, t[0].options().requires_grad(false))};
      },
      {{real({1})}},
      [](const Arrays&) {
        Array out = array({6}, {});
        for (int i = 0; i < 6; ++i) {
          const double t = 2 * i / 5.0 - 1;
          out.data.push_back(bessel_zero(8.5 * std::sqrt(1 - t * t)) / bessel_zero(8.5));
        }
        return Arrays{out};
      },
      kWide);
  steps.differentiable = window.differentiable = false;
  return {steps,
          window,
          slope_row("gradient", true, 1),
          slope_row("gradient.second_order", true, 2),
          slope_row("gradient.places", false, 1),
          slope_row("gradient.places_second_order", false, 2)};
}

}  // namespace

std::vector<OpRow> selection_rows() {
  std::vector<OpRow> rows;
  for (const auto& part : {&choosing_rows, &counting_rows, &distance_rows, &sequence_rows})
    for (OpRow& row : part()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
