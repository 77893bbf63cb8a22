// Rows of parts of tensors replaced, taken apart and put together.
#include <algorithm>
#include <cmath>

#include "taeda/ops/create/create.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/reduce/selection.h"
#include "taeda/ops/shape/join.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

OpRow part_row(std::string name, Sample sample, std::function<Tensor(const Tensors&)> call,
               std::function<Array(const Arrays&)> reference,
               std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = std::move(name);
  row.samples = {std::move(sample)};
  row.call = [call](const Tensors& t) { return Tensors{call(t)}; };
  row.reference = [reference](const Arrays& a) { return Arrays{reference(a)}; };
  row.dtypes = kReals;
  row.covers = std::move(covers);
  return row;
}

/// self with the elements at `places` replaced by the source's, in order.
std::function<Array(const Arrays&)> replaced(std::vector<size_t> places) {
  return [places](const Arrays& in) {
    Array out = in[0];
    for (size_t i = 0; i < places.size(); ++i) out.data[places[i]] = in[1].data[i];
    return out;
  };
}

/// The elements at `places`, in shape `sizes`; -1 stands for 0.
std::function<Array(const Arrays&)> picked(std::vector<int64_t> sizes, std::vector<int> places) {
  return [sizes, places](const Arrays& in) {
    Array out{sizes, {}};
    for (int p : places) out.data.push_back(p < 0 ? 0 : in[0].data[size_t(p)]);
    return out;
  };
}

/// scatter_reduce over dimension 0 of a [4, 3] matrix from a [5, 3] source.
OpRow reduced(const char* how, bool include_self, double start, double (*combine)(double, double)) {
  OpRow row = part_row(
      std::string("scatter_reduce.") + how + (include_self ? "" : "_without_self"),
      {real({4, 3}, 0.5, 2), index({5, 3}, 4), real({5, 3}, 0.5, 2)},
      [=](const Tensors& t) { return t[0].scatter_reduce(0, t[1], t[2], how, include_self); },
      [=](const Arrays& in) {
        Array out = in[0], count = in[0];
        std::fill(count.data.begin(), count.data.end(), include_self ? 1 : 0);
        if (!include_self)
          for (int64_t i = 0; i < 5; ++i)
            for (int64_t j = 0; j < 3; ++j) out.at({int64_t(in[1].at({i, j})), j}) = start;
        for (int64_t i = 0; i < 5; ++i)
          for (int64_t j = 0; j < 3; ++j) {
            double& to = out.at({int64_t(in[1].at({i, j})), j});
            to = combine(to, in[2].at({i, j}));
            count.at({int64_t(in[1].at({i, j})), j}) += 1;
          }
        if (std::string(how) == "mean")
          for (size_t k = 0; k < out.data.size(); ++k) out.data[k] /= std::max(1.0, count.data[k]);
        return out;
      },
      {"scatter_reduce_"});
  row.dtypes = kWide;
  row.in_place = [=](const Tensors& t) {
    return t[0].scatter_reduce_(0, t[1], t[2], how, include_self);
  };
  return row;
}

std::vector<OpRow> replacements() {
  const auto add = [](double a, double b) { return a + b; };
  const auto multiply = [](double a, double b) { return a * b; };
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto smaller = [](double a, double b) { return std::min(a, b); };
  std::vector<OpRow> rows = {
      part_row(
          "select_scatter", {real({2, 3}), real({2})},
          [](const Tensors& t) { return t[0].select_scatter(t[1], 1, 2); }, replaced({2, 5})),
      part_row(
          "slice_scatter", {real({2, 3}), real({2, 2})},
          [](const Tensors& t) { return t[0].slice_scatter(t[1], 1, 0, 3, 2); },
          replaced({0, 2, 3, 5})),
      part_row(
          "diagonal_scatter", {real({2, 3}), real({2})},
          [](const Tensors& t) { return t[0].diagonal_scatter(t[1], 1); }, replaced({1, 5})),
      part_row(
          "put", {real({2, 3}), real({2})},
          [](const Tensors& t) {
            return t[0].put(tensor({4, 1}, kLong).to(t[0].device()), t[1]);
          },
          replaced({4, 1})),
      part_row(
          "masked_scatter", {real({3, 4}), mask({3, 4}), real({12})},
          [](const Tensors& t) { return t[0].masked_scatter(t[1], t[2]); },
          [](const Arrays& in) {
            Array out = in[0];
            size_t next = 0;
            for (size_t i = 0; i < 12; ++i)
              if (in[1].data[i] != 0) out.data[i] = in[2].data[next++];
            return out;
          }),
      reduced("sum", true, 0, add),
      reduced("sum", false, 0, add),
      reduced("mean", true, 0, add),
      reduced("mean", false, 0, add),
      reduced("prod", true, 1, multiply),
      reduced("prod", false, 1, multiply),
      reduced("amax", true, -INFINITY, larger),
      reduced("amax", false, -INFINITY, larger),
      reduced("amin", true, INFINITY, smaller),
      reduced("amin", false, INFINITY, smaller),
  };
  rows[3].in_place = [](const Tensors& t) { return t[0].put_(tensor({4, 1}, kLong), t[1]); };
  rows[4].in_place = [](const Tensors& t) { return t[0].masked_scatter_(t[1], t[2]); };
  return rows;
}

std::vector<OpRow> arrangements() {
  std::vector<OpRow> rows = {
      part_row(
          "hsplit", {real({2, 4})}, [](const Tensors& t) { return t[0].hsplit(2)[1]; },
          picked({2, 2}, {2, 3, 6, 7})),
      part_row(
          "vsplit", {real({4, 2})},
          [](const Tensors& t) {
            return t[0].vsplit({1, 3})[1];
          },
          picked({2, 2}, {2, 3, 4, 5})),
      part_row(
          "dsplit", {real({1, 2, 2})}, [](const Tensors& t) { return t[0].dsplit(2)[0]; },
          picked({1, 2, 1}, {0, 2})),
      part_row(
          "diagflat", {real({2})}, [](const Tensors& t) { return t[0].diagflat(1); },
          picked({3, 3}, {-1, 0, -1, -1, -1, 1, -1, -1, -1})),
      part_row(
          "block_diag", {real({2, 2})},
          [](const Tensors& t) {
            return block_diag({t[0].select(0, 0), t[0]});
          },
          picked({3, 4}, {0, 1, -1, -1, -1, -1, 0, 1, -1, -1, 2, 3})),
      part_row(
          "cartesian_prod", {real({3})},
          [](const Tensors& t) {
            return cartesian_prod({t[0].narrow(0, 0, 2), t[0]});
          },
          picked({6, 2}, {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2})),
      part_row(
          "combinations", {real({4})}, [](const Tensors& t) { return combinations(t[0]); },
          picked({6, 2}, {0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3})),
      part_row(
          "combinations.replaced", {real({3})},
          [](const Tensors& t) { return combinations(t[0], 2, true); },
          picked({6, 2}, {0, 0, 0, 1, 0, 2, 1, 1, 1, 2, 2, 2})),
      part_row(
          "column_stack", {real({2})},
          [](const Tensors& t) {
            return column_stack({t[0], t[0].unsqueeze(1)});
          },
          picked({2, 2}, {0, 0, 1, 1})),
      part_row(
          "row_stack", {real({2})},
          [](const Tensors& t) {
            return row_stack({t[0], t[0]});
          },
          picked({2, 2}, {0, 1, 0, 1})),
      part_row(
          "atleast_1d", {real({})}, [](const Tensors& t) { return atleast_1d(t[0]); },
          picked({1}, {0})),
      part_row(
          "atleast_2d", {real({2})}, [](const Tensors& t) { return atleast_2d(t[0]); },
          picked({1, 2}, {0, 1})),
      part_row(
          "atleast_3d", {real({2})}, [](const Tensors& t) { return atleast_3d(t[0]); },
          picked({1, 2, 1}, {0, 1})),
      part_row(
          "channel_shuffle", {real({1, 4, 2})},
          [](const Tensors& t) { return channel_shuffle(t[0], 2); },
          picked({1, 4, 2}, {0, 1, 4, 5, 2, 3, 6, 7})),
      part_row(
          "isin", {real({3, 4}), real({2})}, [](const Tensors& t) { return isin(t[0], t[1]); },
          [](const Arrays& in) {
            Array out = in[0];
            for (double& x : out.data) x = x == in[1].data[0] || x == in[1].data[1];
            return out;
          }),
  };
  rows.back().differentiable = false;
  return rows;
}

}  // namespace

std::vector<OpRow> parts_rows() {
  std::vector<OpRow> rows = replacements();
  for (OpRow& row : arrangements()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace taeda::testing
