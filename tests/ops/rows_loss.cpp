// Losses.
#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/loss.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

using Loss = std::function<Tensor(const Tensors&, Reduction)>;

/// None, Sum and Mean of a loss whose unreduced values are known.
OpRow row_of(const std::string& name, std::vector<Sample> samples, Loss call,
             std::function<Array(const Arrays&)> each) {
  OpRow row;
  row.name = name;
  row.samples = std::move(samples);
  row.tolerance = 8;
  row.call = [call](const Tensors& t) {
    return Tensors{call(t, Reduction::None), call(t, Reduction::Sum), call(t, Reduction::Mean)};
  };
  row.reference = [each](const Arrays& a) {
    const Array none = each(a);
    double sum = 0;
    for (const double v : none.data) sum += v;
    return Arrays{none, {{}, {sum}}, {{}, {sum / static_cast<double>(none.numel())}}};
  };
  return row;
}

/// A loss that goes element by element over two inputs.
OpRow elementwise_loss(const char* name, Loss call, double (*formula)(double x, double t),
                       Arg input, Arg target) {
  return row_of(name, {{input, target}}, call, [formula](const Arrays& a) {
    Array y = a[0];
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = formula(a[0].data[i], a[1].data[i]);
    return y;
  });
}

double minus_log_sigmoid(double x) { return std::log1p(std::exp(-x)); }
double cut(double x) { return x < 0 ? 0 : x; }

void add_elementwise(std::vector<OpRow>& rows) {
  const Arg any = real({3, 5}), probability = real({3, 5}, 0.1, 0.9),
            positive = real({3, 5}, 0.5, 2);
  rows.push_back(elementwise_loss(
      "mse_loss", [](const Tensors& t, Reduction r) { return mse_loss(t[0], t[1], r); },
      [](double x, double t) { return (x - t) * (x - t); }, any, any));
  rows.push_back(elementwise_loss(
      "l1_loss", [](const Tensors& t, Reduction r) { return l1_loss(t[0], t[1], r); },
      [](double x, double t) { return std::fabs(x - t); }, any, any));
  rows.push_back(elementwise_loss(
      "smooth_l1_loss",
      [](const Tensors& t, Reduction r) { return smooth_l1_loss(t[0], t[1], r, 0.7); },
      [](double x, double t) {
        return std::fabs(x - t) < 0.7 ? (x - t) * (x - t) / 1.4 : std::fabs(x - t) - 0.35;
      },
      any, any));
  rows.push_back(elementwise_loss(
      "huber_loss", [](const Tensors& t, Reduction r) { return huber_loss(t[0], t[1], r, 0.7); },
      [](double x, double t) {
        return std::fabs(x - t) <= 0.7 ? (x - t) * (x - t) / 2 : 0.7 * (std::fabs(x - t) - 0.35);
      },
      any, any));
  rows.push_back(elementwise_loss(
      "binary_cross_entropy",
      [](const Tensors& t, Reduction r) { return binary_cross_entropy(t[0], t[1], {}, r); },
      [](double x, double t) { return -t * std::log(x) - (1 - t) * std::log1p(-x); }, probability,
      probability));
  rows.push_back(elementwise_loss(
      "binary_cross_entropy_with_logits",
      [](const Tensors& t, Reduction r) {
        return binary_cross_entropy_with_logits(t[0], t[1], {}, {}, r);
      },
      [](double x, double t) { return minus_log_sigmoid(x) + (1 - t) * x; }, any, probability));
  rows.push_back(elementwise_loss(
      "binary_cross_entropy_with_logits.weights",
      [](const Tensors& t, Reduction r) {
        const Tensor two = full({5}, 2, TensorOptions(t[0].dtype()).device(t[0].device()));
        return binary_cross_entropy_with_logits(t[0], t[1], two, two, r);
      },
      [](double x, double t) { return 2 * ((1 - t) * x + (1 + t) * minus_log_sigmoid(x)); }, any,
      probability));
  rows.push_back(elementwise_loss(
      "kl_div", [](const Tensors& t, Reduction r) { return kl_div(t[0], t[1], r); },
      [](double x, double t) { return t * (std::log(t) - x); }, any, probability));
  rows.push_back(elementwise_loss(
      "kl_div.log", [](const Tensors& t, Reduction r) { return kl_div(t[0], t[1], r, true); },
      [](double x, double t) { return std::exp(t) * (t - x); }, any, any));
  rows.push_back(elementwise_loss(
      "poisson_nll_loss",
      [](const Tensors& t, Reduction r) {
        return poisson_nll_loss(t[0], t[1], true, false, 1e-8, r);
      },
      [](double x, double t) { return std::exp(x) - t * x; }, any, positive));
  rows.push_back(elementwise_loss(
      "poisson_nll_loss.full",
      [](const Tensors& t, Reduction r) {
        return poisson_nll_loss(t[0], t[1], false, true, 1e-3, r);
      },
      [](double x, double t) {
        return x - t * std::log(x + 1e-3) +
               (t > 1 ? t * std::log(t) - t + 0.5 * std::log(2 * M_PI * t) : 0);
      },
      positive, positive));
  rows.push_back(elementwise_loss(
      "gaussian_nll_loss",
      [](const Tensors& t, Reduction r) {
        return gaussian_nll_loss(t[0], t[0].mul(0), t[1], false, 1e-6, r);
      },
      [](double x, double v) { return 0.5 * (std::log(v) + x * x / v); }, any, positive));
  rows.push_back(elementwise_loss(
      "soft_margin_loss",
      [](const Tensors& t, Reduction r) { return soft_margin_loss(t[0], t[1], r); },
      [](double x, double t) { return minus_log_sigmoid(x * t); }, any, any));
  rows.push_back(elementwise_loss(
      "hinge_embedding_loss",
      [](const Tensors& t, Reduction r) {
        return hinge_embedding_loss(t[0], t[1].detach().gt(0).to(t[0].dtype()).mul(2).sub(1), 1, r);
      },
      [](double x, double t) { return t > 0 ? x : cut(1 - x); }, any, any));
  rows.back().differentiable = rows.back().second_derivative =
      false;  // constant in its second input
  rows.push_back(elementwise_loss(
      "margin_ranking_loss",
      [](const Tensors& t, Reduction r) {
        return margin_ranking_loss(t[0], t[1], t[0].detach().mul(0).sub(1), 0.3, r);
      },
      [](double x, double y) { return cut(x - y + 0.3); }, any, any));
}

/// -sum over classes of q log softmax(x), where q comes from `target`; classes along dimension 1.
template <class Target>
Array classes(const Array& x, bool logits, Target target) {
  const int64_t n = x.sizes[0], c = x.sizes[1], s = x.numel() / (n * c);
  Array y;
  y.sizes = x.sizes;
  y.sizes.erase(y.sizes.begin() + 1);
  for (int64_t i = 0; i < n * s; ++i) {
    const auto value = [&](int64_t k) {
      return x.data[static_cast<size_t>((i / s * c + k) * s + i % s)];
    };
    double sum = 0, loss = 0;
    for (int64_t k = 0; k < c; ++k) sum += std::exp(value(k));
    for (int64_t k = 0; k < c; ++k)
      loss -= target(i, k) * (value(k) - (logits ? std::log(sum) : 0));
    y.data.push_back(loss);
  }
  return y;
}

void add_classes(std::vector<OpRow>& rows) {
  const std::vector<Sample> samples = {{real({4, 7}), index({4}, 7)},
                                       {real({2, 5, 3}), index({2, 3}, 5)},
                                       {real({2, 4, 2, 3}), index({2, 2, 3}, 4)},
                                       {real({2, 70}), index({2}, 70)}};
  const auto hit = [](const Array& t, int64_t i, int64_t k) {
    return t.data[static_cast<size_t>(i)] == static_cast<double>(k) ? 1.0 : 0.0;
  };
  rows.push_back(row_of(
      "cross_entropy", samples,
      [](const Tensors& t, Reduction r) { return cross_entropy(t[0], t[1], {}, r); },
      [hit](const Arrays& a) {
        return classes(a[0], true, [&](int64_t i, int64_t k) { return hit(a[1], i, k); });
      }));
  rows.push_back(row_of(
      "nll_loss", samples,
      [](const Tensors& t, Reduction r) { return nll_loss(t[0], t[1], {}, r); },
      [hit](const Arrays& a) {
        return classes(a[0], false, [&](int64_t i, int64_t k) { return hit(a[1], i, k); });
      }));
  rows.push_back(row_of(
      "cross_entropy.smoothed", samples,
      [](const Tensors& t, Reduction r) { return cross_entropy(t[0], t[1], {}, r, -100, 0.2); },
      [hit](const Arrays& a) {
        const double c = static_cast<double>(a[0].sizes[1]);
        return classes(a[0], true,
                       [&](int64_t i, int64_t k) { return 0.8 * hit(a[1], i, k) + 0.2 / c; });
      }));
  rows.push_back(row_of(
      "cross_entropy.probabilities", {{real({4, 7}), real({4, 7}, 0, 1)}},
      [](const Tensors& t, Reduction r) { return cross_entropy(t[0], t[1], {}, r); },
      [](const Arrays& a) {
        return classes(a[0], true, [&](int64_t i, int64_t k) {
          return a[1].data[static_cast<size_t>(i * 7 + k)];
        });
      }));
}

double distance(const Array& a, const Array& b, int64_t row, double eps) {
  double sum = 0;
  for (int64_t k = 0; k < 4; ++k) sum += std::pow(a.at({row, k}) - b.at({row, k}) + eps, 2);
  return std::sqrt(sum);
}
double cosine(const Array& a, const Array& b, int64_t row) {
  double ab = 0, aa = 0, bb = 0;
  for (int64_t k = 0; k < 4; ++k) {
    ab += a.at({row, k}) * b.at({row, k});
    aa += a.at({row, k}) * a.at({row, k});
    bb += b.at({row, k}) * b.at({row, k});
  }
  return ab / std::sqrt(aa * bb);
}
Array per_row(double (*f)(const Arrays&, int64_t), const Arrays& a) {
  return {{3}, {f(a, 0), f(a, 1), f(a, 2)}};
}

void add_vectors(std::vector<OpRow>& rows) {
  const Arg v = real({3, 4});
  const auto reduced = [](const Tensor& t, Reduction r) {
    return r == Reduction::None ? t : r == Reduction::Sum ? t.sum() : t.mean();
  };
  rows.push_back(row_of(
      "cosine_similarity", {{v, v}},
      [reduced](const Tensors& t, Reduction r) {
        return reduced(cosine_similarity(t[0], t[1]), r);
      },
      [](const Arrays& a) {
        return per_row([](const Arrays& x, int64_t i) { return cosine(x[0], x[1], i); }, a);
      }));
  rows.push_back(row_of(
      "cosine_embedding_loss", {{v, v}},
      [](const Tensors& t, Reduction r) {
        return cosine_embedding_loss(
            t[0], t[1], full({3}, -1, TensorOptions(t[0].dtype()).device(t[0].device())), 0.1, r);
      },
      [](const Arrays& a) {
        return per_row([](const Arrays& x, int64_t i) { return cut(cosine(x[0], x[1], i) - 0.1); },
                       a);
      }));
  rows.push_back(row_of(
      "pairwise_distance", {{v, v}},
      [reduced](const Tensors& t, Reduction r) {
        return reduced(pairwise_distance(t[0], t[1], 2, 1e-3), r);
      },
      [](const Arrays& a) {
        return per_row([](const Arrays& x, int64_t i) { return distance(x[0], x[1], i, 1e-3); }, a);
      }));
  rows.push_back(row_of(
      "triplet_margin_loss", {{v, v, v}},
      [](const Tensors& t, Reduction r) {
        return triplet_margin_loss(t[0], t[1], t[2], 1, 2, 1e-3, true, r);
      },
      [](const Arrays& a) {
        return per_row(
            [](const Arrays& x, int64_t i) {
              const double far =
                  std::min(distance(x[0], x[2], i, 1e-3), distance(x[1], x[2], i, 1e-3));
              return cut(distance(x[0], x[1], i, 1e-3) - far + 1);
            },
            a);
      }));
}

}  // namespace

std::vector<OpRow> loss_rows() {
  std::vector<OpRow> rows;
  add_elementwise(rows);
  add_classes(rows);
  add_vectors(rows);
  return rows;
}

}  // namespace taeda::testing
