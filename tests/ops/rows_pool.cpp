#include <cmath>
#include <limits>

#include "taeda/ops/nn/pool.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// The part of a dimension that output o sees.
struct Span {
  int64_t begin, end;
};
using SpanOf = std::function<Span(int64_t o, int64_t in, int64_t out)>;

/// Windows of `kernel` every `stride`, inside the input.
SpanOf windows(int64_t kernel, int64_t stride, int64_t padding) {
  return [=](int64_t o, int64_t in, int64_t) {
    const int64_t begin = o * stride - padding;
    return Span{std::max<int64_t>(begin, 0), std::min(begin + kernel, in)};
  };
}

SpanOf adaptive() {
  return [](int64_t o, int64_t in, int64_t out) {
    return Span{o * in / out, ((o + 1) * in + out - 1) / out};
  };
}

/// Pools the last dimension, then the one before it, and so on: `reduce(values)` of each window.
/// Serves for maxima, and for means over windows of equal length.
template <class F>
Array pool(Array a, const std::vector<int64_t>& out, const SpanOf& span, F&& reduce) {
  for (size_t k = 0; k < out.size(); ++k) {
    const size_t d = a.sizes.size() - out.size() + k;
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < d; ++i) outer *= a.sizes[i];
    for (size_t i = d + 1; i < a.sizes.size(); ++i) inner *= a.sizes[i];
    std::vector<double> data;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t p = 0; p < out[k]; ++p)
        for (int64_t i = 0; i < inner; ++i) {
          const Span s = span(p, a.sizes[d], out[k]);
          std::vector<double> values;
          for (int64_t x = s.begin; x < s.end; ++x)
            values.push_back(a.data[static_cast<size_t>((o * a.sizes[d] + x) * inner + i)]);
          data.push_back(reduce(values));
        }
    a.sizes[d] = out[k];
    a.data = std::move(data);
  }
  return a;
}

double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

OpRow pool_row(std::string name, Sample sample, std::vector<int64_t> out, SpanOf span,
               double (*reduce)(const std::vector<double>&),
               std::function<Tensor(const Tensors&)> call) {
  return {.name = std::move(name),
          .call = [call](const Tensors& t) { return Tensors{call(t)}; },
          .samples = {std::move(sample)},
          .reference = [=](const Arrays& a) { return Arrays{pool(a[0], out, span, reduce)}; },
          .tolerance = 4};
}

std::vector<OpRow> max_rows() {
  std::vector<OpRow> rows = {
      pool_row("max_pool1d", {real({2, 3, 9})}, {5}, windows(3, 2, 1), largest,
               [](const Tensors& t) { return max_pool1d(t[0], 3, 2, 1); }),
      pool_row("max_pool2d", {real({2, 3, 6, 8})}, {3, 4}, windows(2, 2, 0), largest,
               [](const Tensors& t) { return max_pool2d(t[0], 2); }),
      pool_row("max_pool2d.overlapping", {real({2, 2, 5, 7})}, {3, 4}, windows(3, 2, 1), largest,
               [](const Tensors& t) { return max_pool2d(t[0], 3, 2, 1); }),
      pool_row("max_pool3d", {real({1, 2, 4, 4, 6})}, {2, 2, 3}, windows(2, 2, 0), largest,
               [](const Tensors& t) { return max_pool3d(t[0], 2); }),
      pool_row("adaptive_max_pool1d", {real({2, 3, 7})}, {3}, adaptive(), largest,
               [](const Tensors& t) { return std::get<0>(adaptive_max_pool1d(t[0], 3)); }),
      pool_row("adaptive_max_pool2d", {real({2, 3, 5, 7})}, {3, 2}, adaptive(), largest,
               [](const Tensors& t) {
                 return std::get<0>(adaptive_max_pool2d(t[0], {3, 2}));
               }),
      pool_row("adaptive_max_pool3d", {real({1, 2, 3, 4, 5})}, {2, 2, 2}, adaptive(), largest,
               [](const Tensors& t) { return std::get<0>(adaptive_max_pool3d(t[0], 2)); }),
  };
  rows[0].covers = {"max_pool1d_with_indices"};
  rows[1].covers = {"max_pool2d_with_indices"};
  rows[3].covers = {"max_pool3d_with_indices"};
  return rows;
}

}  // namespace

std::vector<OpRow> pool_rows() {
  std::vector<OpRow> rows = {
      pool_row("avg_pool1d", {real({2, 3, 8})}, {4}, windows(2, 2, 0), mean,
               [](const Tensors& t) { return avg_pool1d(t[0], 2); }),
      pool_row("avg_pool2d", {real({2, 3, 6, 7})}, {4, 5}, windows(3, 1, 0), mean,
               [](const Tensors& t) { return avg_pool2d(t[0], 3, 1); }),
      pool_row("avg_pool2d.without_padding", {real({2, 2, 5, 6})}, {3, 3}, windows(3, 2, 1), mean,
               [](const Tensors& t) { return avg_pool2d(t[0], 3, 2, 1, false, false); }),
      pool_row("avg_pool3d", {real({1, 2, 4, 4, 4})}, {2, 2, 2}, windows(2, 2, 0), mean,
               [](const Tensors& t) { return avg_pool3d(t[0], 2); }),
      pool_row("adaptive_avg_pool1d", {real({2, 3, 7})}, {3}, adaptive(), mean,
               [](const Tensors& t) { return adaptive_avg_pool1d(t[0], 3); }),
      pool_row("adaptive_avg_pool2d", {real({2, 3, 5, 7})}, {3, 2}, adaptive(), mean,
               [](const Tensors& t) {
                 return adaptive_avg_pool2d(t[0], {3, 2});
               }),
      pool_row("adaptive_avg_pool3d", {real({1, 2, 3, 4, 5})}, {2, 2, 2}, adaptive(), mean,
               [](const Tensors& t) { return adaptive_avg_pool3d(t[0], 2); }),
  };
  for (OpRow& row : max_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
