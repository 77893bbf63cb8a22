// Normalisations.
#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/norm.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

constexpr double kEps = 1e-3;

/// Normalises the elements for which `group(sample, channel, position)` is the same; data is (N, C,
/// S).
template <class Group>
Array normalised(const Array& x, const Array* weight, const Array* bias, bool center, Group group) {
  const int64_t n = x.sizes[0], c = x.sizes[1], s = x.numel() / std::max<int64_t>(1, n * c);
  std::vector<double> sum(static_cast<size_t>(n * c * s)), square(sum.size()), count(sum.size());
  const auto each = [&](auto&& f) {
    for (int64_t i = 0; i < n * c * s; ++i)
      f(static_cast<size_t>(i), static_cast<size_t>(group(i / (c * s), i / s % c)),
        static_cast<size_t>(i / s % c));
  };
  each([&](size_t i, size_t g, size_t) { sum[g] += x.data[i], count[g] += 1; });
  const auto mean = [&](size_t g) { return center ? sum[g] / count[g] : 0; };
  each([&](size_t i, size_t g, size_t) {
    square[g] += (x.data[i] - mean(g)) * (x.data[i] - mean(g));
  });
  Array y = x;
  each([&](size_t i, size_t g, size_t ch) {
    y.data[i] = (x.data[i] - mean(g)) / std::sqrt(square[g] / count[g] + kEps) *
                    (weight ? weight->data[ch] : 1) +
                (bias ? bias->data[ch] : 0);
  });
  return y;
}

const Array* at(const Arrays& a, size_t i) { return i < a.size() ? &a[i] : nullptr; }
Tensor given(const Tensors& t, size_t i) { return i < t.size() ? t[i] : Tensor(); }

OpRow row_of(const char* name, std::vector<Sample> samples,
             std::function<Tensor(const Tensors&)> call,
             std::function<Array(const Arrays&)> reference) {
  OpRow row;
  row.name = name;
  row.samples = std::move(samples);
  row.tolerance = 16;
  row.call = [call](const Tensors& t) { return Tensors{call(t)}; };
  row.reference = [reference](const Arrays& a) { return Arrays{reference(a)}; };
  return row;
}

/// Each row of a matrix by itself, weights per column: what layer_norm does to (N, D).
Array by_rows(const Arrays& a, bool center) {
  Array y = normalised(a[0], nullptr, nullptr, center, [](int64_t n, int64_t) { return n; });
  for (size_t i = 0; i < y.data.size(); ++i) {
    const size_t column = i % static_cast<size_t>(a[0].sizes[1]);
    y.data[i] =
        y.data[i] * (a.size() > 1 ? a[1].data[column] : 1) + (a.size() > 2 ? a[2].data[column] : 0);
  }
  return y;
}

}  // namespace

std::vector<OpRow> norm_rows() {
  const std::vector<Sample> images = {{real({3, 2, 5}), real({2}), real({2})},
                                      {real({2, 4, 3, 2})},
                                      {real({6, 4}), real({4}), real({4})}};
  std::vector<OpRow> rows;
  rows.push_back(row_of(
      "batch_norm", images,
      [](const Tensors& t) {
        return batch_norm(t[0], given(t, 1), given(t, 2), {}, {}, true, 0.1, kEps);
      },
      [](const Arrays& a) {
        return normalised(a[0], at(a, 1), at(a, 2), true, [](int64_t, int64_t c) { return c; });
      }));
  rows.push_back(row_of(
      "batch_norm.eval", images,
      [](const Tensors& t) {
        const TensorOptions o = TensorOptions(t[0].dtype()).device(t[0].device());
        const Tensor mean = full({t[0].size(1)}, 0.5, o), var = full({t[0].size(1)}, 2.0, o);
        return batch_norm(t[0], given(t, 1), given(t, 2), mean, var, false, 0.1, kEps);
      },
      [](const Arrays& a) {
        Array y = a[0];
        const int64_t c = y.sizes[1], s = y.numel() / (y.sizes[0] * c);
        for (int64_t i = 0; i < y.numel(); ++i) {
          const size_t k = static_cast<size_t>(i), ch = static_cast<size_t>(i / s % c);
          y.data[k] = (y.data[k] - 0.5) / std::sqrt(2 + kEps) * (a.size() > 1 ? a[1].data[ch] : 1) +
                      (a.size() > 2 ? a[2].data[ch] : 0);
        }
        return y;
      }));
  const std::vector<Sample> lines = {{real({3, 4}), real({4}), real({4})},
                                     {real({2, 70}), real({70})},
                                     {real({3, 5})},
                                     {real({0, 4})}};
  rows.push_back(row_of(
      "layer_norm", lines,
      [](const Tensors& t) {
        return layer_norm(t[0], t[0].size(1), given(t, 1), given(t, 2), kEps);
      },
      [](const Arrays& a) { return by_rows(a, true); }));
  rows.push_back(row_of(
      "rms_norm", {{real({3, 4}), real({4})}, {real({2, 70})}},
      [](const Tensors& t) { return rms_norm(t[0], t[0].size(1), given(t, 1), kEps); },
      [](const Arrays& a) { return by_rows(a, false); }));
  rows.push_back(row_of(
      "group_norm",
      {{real({2, 4, 5}), real({4}), real({4})}, {real({3, 6, 2, 2})}, {real({2, 4}), real({4})}},
      [](const Tensors& t) { return group_norm(t[0], 2, given(t, 1), given(t, 2), kEps); },
      [](const Arrays& a) {
        const int64_t c = a[0].sizes[1];
        return normalised(a[0], at(a, 1), at(a, 2), true,
                          [c](int64_t n, int64_t ch) { return n * 2 + ch / (c / 2); });
      }));
  const std::vector<Sample> maps = {{real({2, 3, 4}), real({3}), real({3})}, {real({2, 2, 3, 3})}};
  const auto by_plane = [](const Arrays& a) {
    const int64_t c = a[0].sizes[1];
    return normalised(a[0], at(a, 1), at(a, 2), true,
                      [c](int64_t n, int64_t ch) { return n * c + ch; });
  };
  rows.push_back(row_of(
      "instance_norm", maps,
      [](const Tensors& t) {
        return instance_norm(t[0], given(t, 1), given(t, 2), {}, {}, true, 0.1, kEps);
      },
      by_plane));
  rows.push_back(row_of(
      "instance_norm.running", maps,
      [](const Tensors& t) {
        const TensorOptions o = TensorOptions(t[0].dtype()).device(t[0].device());
        return instance_norm(t[0], given(t, 1), given(t, 2), zeros({t[0].size(1)}, o),
                             ones({t[0].size(1)}, o), true, 0.1, kEps);
      },
      by_plane));
  rows.push_back(row_of(
      "local_response_norm", {{real({2, 5, 3})}},
      [](const Tensors& t) { return local_response_norm(t[0], 3, 0.3, 0.75, 2); },
      [](const Arrays& a) {
        Array y = a[0];
        for (int64_t n = 0; n < 2; ++n)
          for (int64_t c = 0; c < 5; ++c)
            for (int64_t s = 0; s < 3; ++s) {
              double sum = 0;
              for (int64_t k = std::max<int64_t>(0, c - 1); k <= std::min<int64_t>(4, c + 1); ++k)
                sum += a[0].at({n, k, s}) * a[0].at({n, k, s});
              y.at({n, c, s}) /= std::pow(2 + 0.3 / 3 * sum, 0.75);
            }
        return y;
      }));
  rows.push_back(row_of(
      "normalize", {{real({3, 4})}}, [](const Tensors& t) { return normalize(t[0]); },
      [](const Arrays& a) {
        Array y = a[0];
        for (int64_t r = 0; r < 3; ++r) {
          double sum = 0;
          for (int64_t c = 0; c < 4; ++c) sum += a[0].at({r, c}) * a[0].at({r, c});
          for (int64_t c = 0; c < 4; ++c) y.at({r, c}) /= std::sqrt(sum);
        }
        return y;
      }));
  return rows;
}

}  // namespace taeda::testing
