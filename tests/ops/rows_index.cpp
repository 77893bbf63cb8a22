// Rows of indexing and ordering.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/reduce/sort.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

int64_t at(const Array& index, int64_t i) {
  return static_cast<int64_t>(index.data[static_cast<size_t>(i)]);
}

OpRow row_of(std::string name, std::vector<Arg> sample, std::function<Tensor(const Tensors&)> call,
             std::function<Array(const Arrays&)> reference,
             std::function<Tensor(const Tensors&)> in_place = nullptr,
             std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.call = [call](const Tensors& t) { return Tensors{call(t)}; };
  row.samples = {std::move(sample)};
  row.reference = [reference](const Arrays& in) { return Arrays{reference(in)}; };
  row.dtypes = kReals;
  row.in_place = std::move(in_place);
  row.covers = std::move(covers);
  return row;
}

/// Rows of a [4, 3] matrix named by an index vector.
std::vector<OpRow> whole_rows() {
  const auto rows_of = [](const Array& x, const Array& index) {
    Array out{{static_cast<int64_t>(index.data.size()), 3}, {}};
    for (int64_t i = 0; i < out.sizes[0]; ++i)
      for (int64_t j = 0; j < 3; ++j)
        out.data.push_back(x.data[static_cast<size_t>(at(index, i) * 3 + j)]);
    return out;
  };
  const auto write = [](auto combine) {
    return [combine](const Arrays& in) {
      Array out = in[0];
      for (int64_t i = 0; i < in[1].numel(); ++i)
        for (int64_t j = 0; j < 3; ++j) {
          double& to = out.data[static_cast<size_t>(at(in[1], i) * 3 + j)];
          to = combine(to, in.size() > 2 ? in[2].data[static_cast<size_t>(i * 3 + j)] : 0.0);
        }
      return out;
    };
  };
  const std::vector<Arg> read = {real({4, 3}), index({5}, 4)};
  const std::vector<Arg> change = {real({4, 3}), index({2}, 4), real({2, 3})};
  std::vector<OpRow> rows = {
      row_of(
          "index_select", read, [](const Tensors& t) { return t[0].index_select(0, t[1]); },
          [=](const Arrays& in) { return rows_of(in[0], in[1]); }),
      row_of(
          "index", read, [](const Tensors& t) { return t[0].index({t[1]}); },
          [=](const Arrays& in) { return rows_of(in[0], in[1]); }),
      row_of(
          "embedding", read, [](const Tensors& t) { return embedding(t[0], t[1]); },
          [=](const Arrays& in) { return rows_of(in[0], in[1]); }),
      row_of(
          "index_add", change, [](const Tensors& t) { return t[0].index_add(0, t[1], t[2]); },
          write([](double a, double b) { return a + b; }),
          [](const Tensors& t) { return t[0].index_add_(0, t[1], t[2]); }),
      row_of(
          "index_copy", change, [](const Tensors& t) { return index_copy(t[0], 0, t[1], t[2]); },
          write([](double, double b) { return b; }),
          [](const Tensors& t) { return t[0].index_copy_(0, t[1], t[2]); }),
      row_of(
          "index_fill", {real({4, 3}), index({2}, 4)},
          [](const Tensors& t) { return index_fill(t[0], 0, t[1], 1); },
          write([](double, double) { return 1.0; }),
          [](const Tensors& t) { return t[0].index_fill_(0, t[1], 1); }),
      row_of(
          "index_put.accumulate", change,
          [](const Tensors& t) { return index_put(t[0], {t[1]}, t[2], true); },
          write([](double a, double b) { return a + b; }),
          [](const Tensors& t) { return t[0].index_put_({t[1]}, t[2], true); }),
  };
  for (OpRow& row : rows) {
    // Where two sources may name one row, the first one's gradient is PyTorch's, not the limit's.
    if (row.name == "index_copy")
      row.samples[0][1] = index({1}, 4), row.samples[0][2] = real({1, 3});
    if (row.name == "index_add" || row.name == "index_put.accumulate") row.dtypes = kWide | kInts;
  }
  return rows;
}

/// Elements of a [3, 4] matrix named by an index matrix, along dimension 0.
std::vector<OpRow> single_elements() {
  const auto write = [](bool add) {
    return [add](const Arrays& in) {
      Array out = in[0];
      for (int64_t i = 0; i < in[1].numel(); ++i) {
        double& to = out.data[static_cast<size_t>(at(in[1], i) * 4 + i % 4)];
        to = add ? to + in[2].data[static_cast<size_t>(i)] : in[2].data[static_cast<size_t>(i)];
      }
      return out;
    };
  };
  std::vector<OpRow> rows = {
      row_of(
          "gather", {real({3, 4}), index({2, 4}, 3)},
          [](const Tensors& t) { return t[0].gather(0, t[1]); },
          [](const Arrays& in) {
            Array out{in[1].sizes, {}};
            for (int64_t i = 0; i < in[1].numel(); ++i)
              out.data.push_back(in[0].data[static_cast<size_t>(at(in[1], i) * 4 + i % 4)]);
            return out;
          },
          nullptr, {"take_along_dim"}),
      row_of(
          "scatter", {real({3, 4}), index({1, 4}, 3), real({1, 4})},
          [](const Tensors& t) { return t[0].scatter(0, t[1], t[2]); }, write(false),
          [](const Tensors& t) { return t[0].scatter_(0, t[1], t[2]); }),
      row_of(
          "scatter_add", {real({3, 4}), index({2, 4}, 3), real({2, 4})},
          [](const Tensors& t) { return t[0].scatter_add(0, t[1], t[2]); }, write(true),
          [](const Tensors& t) { return t[0].scatter_add_(0, t[1], t[2]); }),
      row_of(
          "take", {real({3, 4}), index({2, 3}, 12)},
          [](const Tensors& t) { return t[0].take(t[1]); },
          [](const Arrays& in) {
            Array out{in[1].sizes, {}};
            for (int64_t i = 0; i < in[1].numel(); ++i)
              out.data.push_back(in[0].data[static_cast<size_t>(at(in[1], i))]);
            return out;
          }),
  };
  rows[2].dtypes = kWide | kInts;
  return rows;
}

std::vector<OpRow> masks() {
  return {
      row_of(
          "masked_fill", {real({3, 4}), mask({4})},
          [](const Tensors& t) { return t[0].masked_fill(t[1], 1); },
          [](const Arrays& in) {
            Array out = in[0];
            for (size_t i = 0; i < out.data.size(); ++i)
              if (in[1].data[i % 4] != 0) out.data[i] = 1;
            return out;
          },
          [](const Tensors& t) { return t[0].masked_fill_(t[1], 1); }),
      row_of(
          "masked_fill.tensor", {real({3, 4}), mask({3, 4}), real({})},
          [](const Tensors& t) { return t[0].masked_fill(t[1], t[2]); },
          [](const Arrays& in) {
            Array out = in[0];
            for (size_t i = 0; i < out.data.size(); ++i)
              if (in[1].data[i] != 0) out.data[i] = in[2].data[0];
            return out;
          },
          [](const Tensors& t) { return t[0].masked_fill_(t[1], t[2]); }),
      row_of(
          "masked_select", {real({3, 4}), mask({3, 4})},
          [](const Tensors& t) { return t[0].masked_select(t[1]); },
          [](const Arrays& in) {
            Array out{{0}, {}};
            for (size_t i = 0; i < in[0].data.size(); ++i)
              if (in[1].data[i] != 0) out.data.push_back(in[0].data[i]);
            out.sizes[0] = out.numel();
            return out;
          }),
  };
}

/// The order of a row of `n` numbers: NaN last, equal ones as they stand.
std::vector<size_t> order_of(const double* row, size_t n, bool descending) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return descending ? row[a] > row[b] : row[a] < row[b];
  });
  return order;
}

/// The first `keep` of every ordered row of a matrix: values and indices.
Arrays ordered(const Array& in, bool descending, size_t first, size_t keep) {
  const auto n = static_cast<size_t>(in.sizes[1]);
  Array values{{in.sizes[0], static_cast<int64_t>(keep)}, {}}, indices = values;
  for (size_t r = 0; r < static_cast<size_t>(in.sizes[0]); ++r) {
    const std::vector<size_t> order = order_of(in.data.data() + r * n, n, descending);
    for (size_t i = first; i < first + keep; ++i) {
      values.data.push_back(in.data[r * n + order[i]]);
      indices.data.push_back(static_cast<double>(order[i]));
    }
  }
  return {values, indices};
}

OpRow order_row(std::string name, std::function<Tensor::T2(const Tensor&)> call,
                std::function<Arrays(const Array&)> reference,
                std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.call = [call](const Tensors& t) {
    const auto [values, indices] = call(t[0]);
    return Tensors{values, indices};
  };
  row.samples = {{real({3, 7}, -9, 9)}};
  row.reference = [reference](const Arrays& in) { return reference(in[0]); };
  row.dtypes = kReals;
  row.covers = std::move(covers);
  return row;
}

std::vector<OpRow> orders() {
  return {
      order_row(
          "sort", [](const Tensor& x) { return x.sort(1, true); },
          [](const Array& in) { return ordered(in, true, 0, 7); }, {"argsort"}),
      order_row(
          "topk", [](const Tensor& x) { return x.topk(3); },
          [](const Array& in) { return ordered(in, true, 0, 3); }),
      order_row(
          "kthvalue", [](const Tensor& x) { return x.kthvalue(2, 1, true); },
          [](const Array& in) { return ordered(in, false, 1, 1); }),
  };
}

}  // namespace

std::vector<OpRow> index_rows() {
  std::vector<OpRow> rows;
  for (auto family : {&whole_rows, &single_elements, &masks, &orders})
    for (OpRow& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
