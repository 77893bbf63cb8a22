// Rows of views, joins and rearrangements: operations that only move elements. A row's reference
// says which element of the input each element of the result is.
#include <cstdlib>

#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

using Sizes = std::vector<int64_t>;
using Coord = std::vector<int64_t>;
/// Coordinates in the input of an element of the result; empty: zero.
using Source = std::function<Coord(const Coord&)>;

int64_t flat(const Coord& at, const Sizes& sizes) {
  int64_t out = 0;
  for (size_t d = 0; d < sizes.size(); ++d) out = out * sizes[d] + at[d];
  return out;
}

Coord unflat(int64_t index, const Sizes& sizes) {
  Coord out(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) out[d] = index % sizes[d];
  return out;
}

/// The result of shape `sizes` whose elements come from `in`.
Array moved(const Array& in, const Sizes& sizes, const Source& source) {
  Array out{sizes, {}};
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  for (int64_t i = 0; i < n; ++i) {
    const Coord from = source(unflat(i, sizes));
    const bool zero = from.empty() && !in.sizes.empty();
    out.data.push_back(zero ? 0 : in.data[static_cast<size_t>(flat(from, in.sizes))]);
  }
  return out;
}

struct Moving {
  std::string name;
  std::function<Tensor(const Tensor&)> call;
  Sizes input, output;
  Source source;
  std::vector<std::string> covers = {};
  std::function<Tensor(const Tensors&)> in_place = nullptr;
};

OpRow row_of(const Moving& m) {
  OpRow row;
  row.name = m.name;
  row.call = [call = m.call](const Tensors& t) { return Tensors{call(t[0])}; };
  row.samples = {{real(m.input)}};
  row.reference = [output = m.output, source = m.source](const Arrays& in) {
    return Arrays{moved(in[0], output, source)};
  };
  row.dtypes = kReals;
  row.covers = m.covers;
  row.in_place = m.in_place;
  return row;
}

/// Row-major order stays: reshape and its relatives.
Source same_order(Sizes input, Sizes output) {
  return [input, output](const Coord& at) { return unflat(flat(at, output), input); };
}

std::vector<Moving> orderings() {
  const Sizes m = {2, 3}, c = {2, 3, 4};
  return {
      {"reshape",
       [](const Tensor& x) {
         return x.reshape({3, -1});
       },
       m,
       {3, 2},
       same_order(m, {3, 2}),
       {"reshape_as"}},
      {"view",
       [](const Tensor& x) {
         return x.contiguous().view({6, 1});
       },
       m,
       {6, 1},
       same_order(m, {6, 1}),
       {"view_as"}},
      {"flatten",
       [](const Tensor& x) { return x.flatten(1); },
       c,
       {2, 12},
       same_order(c, {2, 12}),
       {"ravel"}},
      {"unflatten",
       [](const Tensor& x) {
         return x.unflatten(2, {2, -1});
       },
       c,
       {2, 3, 2, 2},
       same_order(c, {2, 3, 2, 2})},
      {"transpose",
       [](const Tensor& x) { return x.transpose(0, -1); },
       {3, 2, 3},
       {3, 2, 3},
       [](const Coord& o) {
         return Coord{o[2], o[1], o[0]};
       },
       {"swapaxes", "swapdims", "mT"},
       [](const Tensors& t) { return t[0].transpose_(0, 2); }},
      {"t",
       [](const Tensor& x) { return x.t(); },
       m,
       {3, 2},
       [](const Coord& o) {
         return Coord{o[1], o[0]};
       }},
      {"permute",
       [](const Tensor& x) {
         return x.permute({2, 0, 1});
       },
       c,
       {4, 2, 3},
       [](const Coord& o) {
         return Coord{o[1], o[2], o[0]};
       }},
      {"movedim",
       [](const Tensor& x) { return x.movedim(0, -1); },
       c,
       {3, 4, 2},
       [](const Coord& o) {
         return Coord{o[2], o[0], o[1]};
       },
       {"moveaxis"}},
  };
}

std::vector<Moving> selections() {
  const Sizes m = {2, 3}, c = {2, 3, 4};
  return {
      {"select",
       [](const Tensor& x) { return x.select(1, -1); },
       c,
       {2, 4},
       [](const Coord& o) {
         return Coord{o[0], 2, o[1]};
       }},
      {"slice",
       [](const Tensor& x) { return x.slice(2, 1, {}, 2); },
       c,
       {2, 3, 2},
       [](const Coord& o) {
         return Coord{o[0], o[1], 1 + 2 * o[2]};
       }},
      {"narrow",
       [](const Tensor& x) { return x.narrow(1, 1, 2); },
       c,
       {2, 2, 4},
       [](const Coord& o) {
         return Coord{o[0], o[1] + 1, o[2]};
       }},
      {"squeeze",
       [](const Tensor& x) { return x.squeeze(); },
       {1, 3, 1},
       {3},
       [](const Coord& o) {
         return Coord{0, o[0], 0};
       }},
      {"squeeze.dim",
       [](const Tensor& x) { return x.squeeze(0); },
       {1, 3, 1},
       {3, 1},
       [](const Coord& o) {
         return Coord{0, o[0], 0};
       }},
      {"unsqueeze",
       [](const Tensor& x) { return x.unsqueeze(-1); },
       m,
       {2, 3, 1},
       [](const Coord& o) {
         return Coord{o[0], o[1]};
       }},
      {"expand",
       [](const Tensor& x) {
         return x.expand({2, 3, -1});
       },
       {3, 1},
       {2, 3, 1},
       [](const Coord& o) {
         return Coord{o[1], 0};
       },
       {"expand_as", "broadcast_to", "broadcast_tensors"}},
      {"as_strided",
       [](const Tensor& x) {
         return x.clone(MemoryFormat::Contiguous).as_strided({2, 2}, {1, 2}, 1);
       },
       m,
       {2, 2},
       [m](const Coord& o) { return unflat(1 + o[0] + 2 * o[1], m); }},
      {"diagonal",
       [](const Tensor& x) { return x.diagonal(1, 0, 1); },
       {3, 4, 2},
       {2, 3},
       [](const Coord& o) {
         return Coord{o[1], o[1] + 1, o[0]};
       }},
      {"unfold",
       [](const Tensor& x) { return x.unfold(1, 2, 1); },
       m,
       {2, 2, 2},
       [](const Coord& o) {
         return Coord{o[0], o[1] + o[2]};
       }},
  };
}

std::vector<Moving> rearrangements() {
  const Sizes m = {2, 3};
  return {
      {"repeat",
       [](const Tensor& x) {
         return x.repeat({2, 1, 2});
       },
       m,
       {2, 2, 6},
       [](const Coord& o) {
         return Coord{o[1], o[2] % 3};
       }},
      {"tile",
       [](const Tensor& x) { return x.tile(IntArrayRef{3}); },
       m,
       {2, 9},
       [](const Coord& o) {
         return Coord{o[0], o[1] % 3};
       }},
      {"repeat_interleave",
       [](const Tensor& x) { return x.repeat_interleave(2, 1); },
       m,
       {2, 6},
       [](const Coord& o) {
         return Coord{o[0], o[1] / 2};
       }},
      {"flip",
       [](const Tensor& x) {
         return x.flip({0, 2});
       },
       {2, 3, 4},
       {2, 3, 4},
       [](const Coord& o) {
         return Coord{1 - o[0], o[1], 3 - o[2]};
       },
       {"fliplr", "flipud"}},
      {"rot90",
       [](const Tensor& x) {
         return rot90(x, 1, {0, 1});
       },
       m,
       {3, 2},
       [](const Coord& o) {
         return Coord{o[1], 2 - o[0]};
       }},
      {"roll",
       [](const Tensor& x) {
         return x.roll({1, -1}, {0, 1});
       },
       m, m,
       [](const Coord& o) {
         return Coord{(o[0] + 1) % 2, (o[1] + 1) % 3};
       }},
      {"tril",
       [](const Tensor& x) { return x.tril(1); },
       {2, 4, 4},
       {2, 4, 4},
       [](const Coord& o) { return o[2] <= o[1] + 1 ? o : Coord(); }},
      {"triu",
       [](const Tensor& x) { return x.triu(); },
       {3, 4},
       {3, 4},
       [](const Coord& o) { return o[1] >= o[0] ? o : Coord(); }},
      {"diag",
       [](const Tensor& x) { return x.diag(); },
       {3},
       {3, 3},
       [](const Coord& o) { return o[0] == o[1] ? Coord{o[0]} : Coord(); }},
      {"diag_embed",
       [](const Tensor& x) { return diag_embed(x, 1); },
       m,
       {2, 4, 4},
       [](const Coord& o) {
         return o[2] == o[1] + 1 ? Coord{o[0], o[1]} : Coord();
       }},
  };
}

/// Joins of two inputs, and the part of a split that the reference names.
std::vector<OpRow> joins() {
  OpRow cat_row;
  cat_row.name = "cat";
  cat_row.call = [](const Tensors& t) { return Tensors{cat({t[0], t[1], t[0]}, 1)}; };
  cat_row.samples = {{real({2, 3}), real({2, 1})}, {real({2, 0}), real({2, 2})}};
  cat_row.reference = [](const Arrays& in) {
    Array out{{2, 2 * in[0].sizes[1] + in[1].sizes[1]}, {}};
    for (int64_t r = 0; r < 2; ++r)
      for (size_t k : {0, 1, 0})
        for (int64_t j = 0; j < in[k].sizes[1]; ++j)
          out.data.push_back(in[k].data[static_cast<size_t>(r * in[k].sizes[1] + j)]);
    return Arrays{out};
  };
  cat_row.dtypes = kReals;
  cat_row.covers = {"concat", "concatenate", "hstack", "vstack", "dstack"};
  OpRow stack_row;
  stack_row.name = "stack";
  stack_row.call = [](const Tensors& t) { return Tensors{stack({t[0], t[1]}, -1)}; };
  stack_row.samples = {{real({3}), real({3})}, {real({}), real({})}};
  stack_row.reference = [](const Arrays& in) {
    Array out{in[0].sizes, {}};
    out.sizes.push_back(2);
    for (size_t i = 0; i < in[0].data.size(); ++i) {
      out.data.push_back(in[0].data[i]);
      out.data.push_back(in[1].data[i]);
    }
    return Arrays{out};
  };
  stack_row.dtypes = kReals;
  return {cat_row, stack_row};
}

OpRow parts_row(const std::string& name, std::function<std::vector<Tensor>(const Tensor&)> call,
                std::vector<int64_t> starts, bool keeps_dim, std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = name;
  row.call = [call](const Tensors& t) { return call(t[0]); };
  row.samples = {{real({2, 5})}};
  row.reference = [starts, keeps_dim](const Arrays& in) {
    Arrays out;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const int64_t n = starts[i + 1] - starts[i];
      out.push_back(moved(in[0], keeps_dim ? Sizes{2, n} : Sizes{2}, [&](const Coord& o) {
        return Coord{o[0], starts[i] + (keeps_dim ? o[1] : 0)};
      }));
    }
    return out;
  };
  row.dtypes = kReals;
  row.covers = std::move(covers);
  return row;
}

}  // namespace

std::vector<OpRow> shape_rows() {
  std::vector<OpRow> rows = joins();
  for (const auto& list : {orderings(), selections(), rearrangements()})
    for (const Moving& m : list) rows.push_back(row_of(m));
  rows.push_back(parts_row(
      "split", [](const Tensor& x) { return x.split(2, 1); }, {0, 2, 4, 5}, true));
  rows.push_back(parts_row("split.sizes",
                           [](const Tensor& x) {
                             return x.split({1, 4}, 1);
                           },
                           {0, 1, 5}, true, {"split_with_sizes"}));
  rows.push_back(parts_row(
      "chunk", [](const Tensor& x) { return x.chunk(2, 1); }, {0, 3, 5}, true));
  rows.push_back(parts_row(
      "tensor_split", [](const Tensor& x) { return tensor_split(x, 3, 1); }, {0, 2, 4, 5}, true));
  rows.push_back(parts_row(
      "unbind", [](const Tensor& x) { return x.unbind(1); }, {0, 1, 2, 3, 4, 5}, false));
  return rows;
}

}  // namespace taeda::testing
