// Arrays, inputs and the elementwise row of the op table.
#include <cmath>
#include <sstream>

#include "taeda/ops/create/create.h"
#include "tests/ops/op_inputs.h"

namespace taeda::testing {

double& Array::at(std::initializer_list<int64_t> index) {
  int64_t offset = 0;
  size_t d = 0;
  for (int64_t i : index) offset = offset * sizes[d++] + i;
  return data[static_cast<size_t>(offset)];
}

Array to_array(const Tensor& t) {
  const Tensor c = t.detach().cpu().to(kDouble).contiguous();
  const double* p = c.data_ptr<double>();
  return {c.sizes().vec(), {p, p + c.numel()}};
}

Array array(std::vector<int64_t> sizes, std::vector<double> data) {
  return {std::move(sizes), std::move(data)};
}

Arg real(std::vector<int64_t> sizes, double low, double high) {
  return {std::move(sizes), low, high, Arg::Kind::Real};
}
Arg mask(std::vector<int64_t> sizes) { return {std::move(sizes), 0, 2, Arg::Kind::Mask}; }
Arg index(std::vector<int64_t> sizes, int64_t below) {
  return {std::move(sizes), 0, static_cast<double>(below), Arg::Kind::Index};
}

namespace {

std::vector<int64_t> broadcast(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
                  y = i < b.size() ? b[b.size() - 1 - i] : 1;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

/// Where element `linear` of `shape` comes from in a broadcast operand.
int64_t source_of(int64_t linear, const std::vector<int64_t>& shape,
                  const std::vector<int64_t>& sizes) {
  int64_t offset = 0, step = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t coordinate = linear % shape[shape.size() - 1 - i];
    linear /= shape[shape.size() - 1 - i];
    if (i >= sizes.size()) continue;
    const int64_t size = sizes[sizes.size() - 1 - i];
    offset += (size == 1 ? 0 : coordinate) * step;
    step *= size;
  }
  return offset;
}

Arrays apply_formula(const std::function<double(const double*)>& formula, const Arrays& in) {
  Array out;
  for (const Array& a : in) out.sizes = broadcast(out.sizes, a.sizes);
  int64_t n = 1;
  for (int64_t s : out.sizes) n *= s;
  std::vector<double> args(in.size());
  for (int64_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < in.size(); ++k)
      args[k] = in[k].data[source_of(i, out.sizes, in[k].sizes)];
    out.data.push_back(formula(args.data()));
  }
  return {out};
}

/// Shapes of one sample: the k-th operand has the k-th shape, the last one repeats.
Sample with_shapes(std::vector<Arg> args, const std::vector<std::vector<int64_t>>& shapes) {
  for (size_t i = 0; i < args.size(); ++i) args[i].sizes = shapes[std::min(i, shapes.size() - 1)];
  return args;
}

/// A fixed sequence for each test, so that a row's numbers do not depend on the other rows.
class Sequence {
 public:
  explicit Sequence(const std::string& name) {
    for (char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  /// In [0, 1).
  double next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325ull;
};

Tensor make_input(const Arg& arg, ScalarType dtype, Sequence& sequence) {
  Tensor t = empty(arg.sizes, kDouble);
  double* p = t.data_ptr<double>();
  const bool whole = arg.kind != Arg::Kind::Real || is_integral(dtype, true);
  for (int64_t i = 0; i < t.numel(); ++i) {
    const double x = arg.low + (arg.high - arg.low) * sequence.next();
    p[i] = !whole ? x : dtype == kByte || dtype == kBool ? std::floor(std::fabs(x)) : std::floor(x);
  }
  if (arg.kind == Arg::Kind::Mask) return t.to(kBool);
  return t.to(arg.kind == Arg::Kind::Index ? kLong : dtype);
}

}  // namespace

std::string describe(const OpRow& row, const Sample& sample, ScalarType dtype) {
  std::ostringstream out;
  out << row.name << " on " << to_string(dtype);
  for (const Arg& arg : sample) out << ' ' << IntArrayRef(arg.sizes);
  return out.str();
}

Tensors make_inputs(const OpRow& row, const Sample& sample, ScalarType dtype) {
  Sequence sequence(row.name);
  Tensors in;
  for (const Arg& arg : sample) in.push_back(make_input(arg, dtype, sequence));
  return in;
}

std::vector<ScalarType> dtypes_of(const OpRow& row) {
  std::vector<ScalarType> out;
  const auto add = [&](std::initializer_list<ScalarType> list) { out.insert(out.end(), list); };
  if (row.dtypes & kFloats) add({kDouble, kFloat, kHalf, kBFloat16});
  if (row.dtypes & kWide) add({kDouble, kFloat});
  if (row.dtypes & kInts) add({kLong, kInt, kShort, kChar, kByte});
  if (row.dtypes & kBools) add({kBool});
  return out;
}

OpRow elementwise(const Elementwise& op) {
  OpRow row;
  row.name = op.name;
  row.call = [call = op.call](const Tensors& in) { return Tensors{call(in)}; };
  row.reference = [formula = op.formula](const Arrays& in) { return apply_formula(formula, in); };
  row.samples = {with_shapes(op.args, {{3, 4}}), with_shapes(op.args, {{}}),
                 with_shapes(op.args, {{0, 3}}), with_shapes(op.args, {{67}})};
  if (op.args.size() > 1) {
    row.samples.push_back(with_shapes(op.args, {{2, 3, 4}, {4}}));
    row.samples.push_back(with_shapes(op.args, {{3, 4}, {3, 1}, {1, 4}}));
    row.samples.push_back(with_shapes(op.args, {{3, 2}, {}}));
  }
  row.dtypes = op.dtypes;
  row.in_place = op.in_place;
  row.differentiable = op.differentiable;
  row.second_derivative = op.second_derivative;
  row.tolerance = op.tolerance;
  row.specials = op.specials;
  row.covers = op.covers;
  return row;
}

const std::vector<OpRow>& all_rows() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all;
    for (const auto& family : {&arithmetic_rows,
                               &compare_rows,
                               &unary_rows,
                               &activation_rows,
                               &shape_rows,
                               &index_rows,
                               &reduce_rows,
                               &norm_rows,
                               &loss_rows,
                               &matmul_rows,
                               &conv_rows,
                               &pool_rows,
                               &create_rows,
                               &fft_rows,
                               &linalg_rows,
                               &complex_matrix_rows,
                               &attention_rows,
                               &rnn_rows,
                               &special_rows,
                               &special_function_rows,
                               &alignment_rows,
                               &selection_rows,
                               &matrix_form_rows,
                               &general_rows,
                               &sparse_rows,
                               &interpolate_rows,
                               &parts_rows})
      for (OpRow& row : family()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

}  // namespace taeda::testing
