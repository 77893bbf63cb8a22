// Rows of creation, filling and copying. The input of a creation says dtype and device.
#include <cmath>

#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "tests/ops/op_table.h"

namespace taeda::testing {

namespace {

/// Makes something of the dtype and on the device that the options name; `want` is what.
OpRow made(const std::string& name, std::function<Tensor(const TensorOptions&)> make, Array want,
           unsigned dtypes = kReals, std::vector<std::string> covers = {}) {
  OpRow row;
  row.name = name;
  row.call = [make](const Tensors& t) {
    return Tensors{make(TensorOptions(t[0].dtype()).device(t[0].device()))};
  };
  row.samples = {{real({2})}};
  row.reference = [want](const Arrays&) { return Arrays{want}; };
  row.dtypes = dtypes;
  row.differentiable = false;
  row.covers = std::move(covers);
  return row;
}

/// Makes something like a tensor, all of whose elements are `value`.
OpRow alike(const std::string& name, std::function<Tensor(const Tensor&)> make, double value) {
  OpRow row;
  row.name = name;
  row.call = [make](const Tensors& t) { return Tensors{make(t[0])}; };
  row.samples = {{real({2, 3})}, {real({0, 4})}, {real({})}};
  row.reference = [value](const Arrays& in) {
    return Arrays{{in[0].sizes, std::vector<double>(in[0].data.size(), value)}};
  };
  row.dtypes = kReals;
  row.differentiable = false;
  return row;
}

void add_constants(std::vector<OpRow>& rows) {
  const auto all = [](double value) { return array({2, 3}, std::vector<double>(6, value)); };
  const auto add = [&](const char* name, double value, auto make) {
    rows.push_back(made(name, make, all(value), kReals | kBools));
  };
  // The content of fresh memory is anything: what can be said is that it holds what is written.
  add("empty", 1, [](const TensorOptions& o) { return empty({2, 3}, o).fill_(1); });
  add("empty_strided", 1, [](const TensorOptions& o) {
    return empty_strided({2, 3}, {1, 2}, o).fill_(1);
  });
  add("zeros", 0, [](const TensorOptions& o) { return zeros({2, 3}, o); });
  add("ones", 1, [](const TensorOptions& o) { return ones({2, 3}, o); });
  add("full", 1, [](const TensorOptions& o) { return full({2, 3}, 1, o); });
  rows.push_back(made(
      "scalar_tensor", [](const TensorOptions& o) { return scalar_tensor(3, o); }, array({}, {3})));
  rows.push_back(made(
      "full.fraction", [](const TensorOptions& o) { return full({3}, -0.375, o); },
      array({3}, {-0.375, -0.375, -0.375}), kFloats));

  rows.push_back(alike(
      "empty_like", [](const Tensor& t) { return empty_like(t).fill_(2); }, 2));
  rows.push_back(alike(
      "zeros_like", [](const Tensor& t) { return zeros_like(t); }, 0));
  rows.push_back(alike(
      "ones_like", [](const Tensor& t) { return ones_like(t); }, 1));
  rows.push_back(alike(
      "full_like", [](const Tensor& t) { return full_like(t, 5); }, 5));
  rows.push_back(alike(
      "new_empty", [](const Tensor& t) { return t.new_empty(t.sizes()).fill_(2); }, 2));
  rows.push_back(alike(
      "new_zeros", [](const Tensor& t) { return t.new_zeros(t.sizes()); }, 0));
  rows.push_back(alike(
      "new_ones", [](const Tensor& t) { return t.new_ones(t.sizes()); }, 1));
  rows.push_back(alike(
      "new_full", [](const Tensor& t) { return t.new_full(t.sizes(), 7); }, 7));
}

/// The numbers f(0), f(1), ... of a vector.
template <class F>
Array sequence(int64_t n, F f) {
  Array out{{n}, {}};
  for (int64_t i = 0; i < n; ++i) out.data.push_back(f(static_cast<double>(i)));
  return out;
}

void add_sequences(std::vector<OpRow>& rows) {
  const auto add = [&](const char* name, auto make, Array want, unsigned dtypes) {
    rows.push_back(made(name, make, std::move(want), dtypes));
  };
  add(
      "arange", [](const TensorOptions& o) { return arange(100, o); },
      sequence(100, [](double i) { return i; }), kReals);
  add(
      "arange.from", [](const TensorOptions& o) { return arange(3, 9, o); },
      sequence(6, [](double i) { return 3 + i; }), kReals);
  add(
      "arange.step", [](const TensorOptions& o) { return arange(1, -1, -0.25, o); },
      sequence(8, [](double i) { return 1 - 0.25 * i; }), kFloats);
  add(
      "arange.empty", [](const TensorOptions& o) { return arange(2, 2, o); },
      sequence(0, [](double i) { return i; }), kReals);
  add(
      "linspace", [](const TensorOptions& o) { return linspace(-1, 2, 37, o); },
      sequence(37, [](double i) { return -1 + 3 * i / 36; }), kFloats);
  add(
      "linspace.whole", [](const TensorOptions& o) { return linspace(1, 9, 5, o); },
      sequence(5, [](double i) { return 1 + 2 * i; }), kReals);
  add(
      "linspace.one", [](const TensorOptions& o) { return linspace(4, 9, 1, o); },
      sequence(1, [](double) { return 4; }), kReals);
  add(
      "logspace", [](const TensorOptions& o) { return logspace(-2, 3, 11, 2, o); },
      sequence(11, [](double i) { return std::exp2(-2 + 0.5 * i); }), kFloats);
}

void add_matrices(std::vector<OpRow>& rows) {
  rows.push_back(made(
      "eye", [](const TensorOptions& o) { return eye(2, o); }, array({2, 2}, {1, 0, 0, 1}),
      kReals | kBools));
  rows.push_back(made(
      "eye.wide", [](const TensorOptions& o) { return eye(2, 3, o); },
      array({2, 3}, {1, 0, 0, 0, 1, 0})));
  rows.push_back(made(
      "tril_indices", [](const TensorOptions& o) { return tril_indices(2, 3, 0, o); },
      array({2, 3}, {0, 1, 1, 0, 0, 1}), kInts));
  rows.push_back(made(
      "triu_indices", [](const TensorOptions& o) { return triu_indices(2, 3, 1, o); },
      array({2, 3}, {0, 0, 1, 1, 2, 2}), kInts));
  rows.push_back(made(
      "tensor",
      [](const TensorOptions& o) {
        return tensor({{1, 2}, {3, 4}, {5, 6}}, o);
      },
      array({3, 2}, {1, 2, 3, 4, 5, 6})));
}

/// The first input with new values.
OpRow filled(const std::string& name, Sample sample, std::function<Tensor(const Tensors&)> in_place,
             std::function<double(const Arrays&, size_t)> element) {
  OpRow row;
  row.name = name;
  row.call = [in_place](const Tensors& t) {
    Tensors copy = t;
    copy[0] = t[0].clone();
    return Tensors{in_place(copy)};
  };
  row.in_place = in_place;
  row.samples = {std::move(sample)};
  row.reference = [element](const Arrays& in) {
    Array out = in[0];
    for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = element(in, i);
    return Arrays{out};
  };
  row.dtypes = kReals | kBools;
  return row;
}

void add_changes(std::vector<OpRow>& rows) {
  rows.push_back(filled(
      "fill", {real({2, 3})}, [](const Tensors& t) { return t[0].fill_(1); },
      [](const Arrays&, size_t) { return 1; }));
  rows.push_back(filled(
      "fill.tensor", {real({2, 3}), real({})}, [](const Tensors& t) { return t[0].fill_(t[1]); },
      [](const Arrays& in, size_t) { return in[1].data[0]; }));
  rows.push_back(filled(
      "zero", {real({2, 3})}, [](const Tensors& t) { return t[0].zero_(); },
      [](const Arrays&, size_t) { return 0; }));
  rows.push_back(filled(
      "copy", {real({2, 3}), real({2, 3})}, [](const Tensors& t) { return t[0].copy_(t[1]); },
      [](const Arrays& in, size_t i) { return in[1].data[i]; }));
  rows.push_back(filled(
      "copy.broadcast", {real({2, 3}), real({3})},
      [](const Tensors& t) { return t[0].copy_(t[1]); },
      [](const Arrays& in, size_t i) { return in[1].data[i % 3]; }));
}

/// The same numbers in memory of their own.
void add_copies(std::vector<OpRow>& rows) {
  const auto add = [&](const char* name, auto copy) {
    OpRow row;
    row.name = name;
    row.call = [copy](const Tensors& t) { return Tensors{copy(t[0])}; };
    row.samples = {{real({2, 3, 4})}, {real({0, 4})}, {real({})}};
    row.reference = [](const Arrays& in) { return Arrays{in[0]}; };
    row.dtypes = kReals | kBools;
    rows.push_back(std::move(row));
  };
  add("clone", [](const Tensor& t) { return clone(t); });
  add("clone.contiguous", [](const Tensor& t) { return t.clone(MemoryFormat::Contiguous); });
  add("contiguous", [](const Tensor& t) { return t.contiguous(); });
  add("to.double", [](const Tensor& t) { return t.to(kDouble); });
  add("to.copy", [](const Tensor& t) { return t.to(t.device(), false, true); });
}

}  // namespace

std::vector<OpRow> create_rows() {
  std::vector<OpRow> rows;
  add_constants(rows);
  add_sequences(rows);
  add_matrices(rows);
  add_changes(rows);
  add_copies(rows);
  return rows;
}

}  // namespace taeda::testing
