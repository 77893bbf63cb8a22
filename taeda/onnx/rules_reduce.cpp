// Reductions, scans and orders.
#include <algorithm>

#include "taeda/onnx/lower.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// The dimensions in argument `i`, from 0; empty for all.
std::vector<int64_t> axes_of(Call& c, size_t i) {
  std::vector<int64_t> out = c.integers(i);
  for (int64_t& d : out) d = wrap_dim(d, c.rank(0));
  return out;
}

/// Where dimensions stand, if this overload has them: (self, dim, keepdim, ...).
bool has_dims(const Call& c) { return c.is<std::vector<int64_t>>(1) || c.is<int64_t>(1); }

void write_reduction(Call& c, const char* op) {
  const bool dims = has_dims(c);
  c.give(c.reduce(op, c.operand(0, c.dtype()), dims ? axes_of(c, 1) : std::vector<int64_t>(),
                  dims && c.flag(2)));
}

/// max and min: of all elements, or (values, indices) along one dimension.
void write_extreme(Call& c, const char* op, const char* arg) {
  if (!has_dims(c)) return c.give(c.reduce(op, c.in(0), {}, false));
  const std::vector<int64_t> axes = axes_of(c, 1);
  c.give(c.reduce(op, c.in(0), axes, c.flag(2)), 0);
  c.give(c.emit(arg, {c.in(0)}, {{"axis", axes[0]}, {"keepdims", int64_t{c.flag(2)}}}), 1);
}

void write_arg(Call& c, const char* op) {
  const bool flat = !c.has(1);
  const std::string x = flat ? c.emit("Reshape", {c.in(0), c.ints({-1})}) : c.in(0);
  const int64_t axis = flat ? 0 : c.dim(1, c.rank(0));
  if (flat && c.flag(2)) c.refuse("it keeps the dimensions of a flattened tensor");
  c.give(c.emit(op, {x}, {{"axis", axis}, {"keepdims", int64_t{!flat && c.flag(2)}}}));
}

/// sum (x - mean)^2 / (count - correction)
std::string variance(Call& c, std::vector<int64_t> axes, double correction, bool keepdim) {
  double count = 1;
  for (int64_t d = 0; d < c.rank(0); ++d)
    if (axes.empty() || std::find(axes.begin(), axes.end(), d) != axes.end())
      count *= static_cast<double>(c.fixed_size(0, d));
  const std::string x = c.in(0);
  const std::string away = c.emit("Sub", {x, c.reduce("ReduceMean", x, axes, true)});
  const std::string sum = c.reduce("ReduceSumSquare", away, axes, keepdim);
  return c.emit("Div", {sum, c.number(std::max(0., count - correction), c.dtype())});
}

/// (self, dim, unbiased or correction, keepdim)
void write_variance(Call& c, bool root) {
  double correction = 1;
  if (c.is<bool>(2)) correction = c.flag(2) ? 1 : 0;
  if (c.is<int64_t>(2) || c.is<double>(2)) correction = c.real(2);
  const std::string out = variance(c, axes_of(c, 1), correction, c.flag(3));
  c.give(root ? c.emit("Sqrt", {out}) : out);
}

/// (self, p) or (self, p, dim, keepdim)
void write_norm(Call& c) {
  const double p = c.real(1, 2);
  if (p != 1 && p != 2) c.refuse("p is neither 1 nor 2");
  if (c.is<ScalarType>(2) || c.is<ScalarType>(4)) c.refuse("it has a dtype of its own");
  const bool dims = c.is<std::vector<int64_t>>(2);
  c.give(c.reduce(p == 1 ? "ReduceL1" : "ReduceL2", c.in(0),
                  dims ? axes_of(c, 2) : std::vector<int64_t>(), dims && c.flag(3)));
}

/// any and all: the largest and smallest of zeros and ones.
void write_truth(Call& c, const char* op) {
  const std::string truth = c.operand(0, kBool);
  const std::vector<int64_t> axes = has_dims(c) ? axes_of(c, 1) : std::vector<int64_t>();
  if (has_dims(c) && axes.empty()) return c.give(truth);
  c.give(c.cast(c.reduce(op, c.cast(truth, kBool, kInt), axes, c.flag(2)), kInt, kBool));
}

void write_cumsum(Call& c) {
  const std::string axis = c.lowering().size_number(fixed(c.dim(1, c.rank(0))));
  c.give(c.emit("CumSum", {c.operand(0, c.dtype()), axis}));
}

/// (self, k, dim, largest)
void write_topk(Call& c) {
  const Names out =
      c.emit_many("TopK", {c.in(0), c.lowering().size_list({c.size(1)})}, 2,
                  {{"axis", c.dim(2, c.rank(0), -1)}, {"largest", int64_t{c.flag(3, true)}}});
  c.give(out[0], 0);
  c.give(out[1], 1);
}

/// sort and argsort: (self, dim, descending)
Names sorted(Call& c) {
  const int64_t dim = c.dim(1, c.rank(0), -1);
  const Size size = c.sizes_of_argument(0)[static_cast<size_t>(dim)];
  return c.emit_many("TopK", {c.in(0), c.lowering().size_list({size})}, 2,
                     {{"axis", dim}, {"largest", int64_t{c.flag(2)}}});
}

void write_sort(Call& c) {
  const Names out = sorted(c);
  c.give(out[0], 0);
  c.give(out[1], 1);
}

constexpr Rule kReduce[] = {
    {"sum", [](Call& c) { write_reduction(c, "ReduceSum"); }},
    {"mean", [](Call& c) { write_reduction(c, "ReduceMean"); }},
    {"prod", [](Call& c) { write_reduction(c, "ReduceProd"); }},
    {"amax", [](Call& c) { write_reduction(c, "ReduceMax"); }},
    {"amin", [](Call& c) { write_reduction(c, "ReduceMin"); }},
    {"logsumexp", [](Call& c) { write_reduction(c, "ReduceLogSumExp"); }},
    {"max", [](Call& c) { write_extreme(c, "ReduceMax", "ArgMax"); }},
    {"min", [](Call& c) { write_extreme(c, "ReduceMin", "ArgMin"); }},
    {"argmax", [](Call& c) { write_arg(c, "ArgMax"); }},
    {"argmin", [](Call& c) { write_arg(c, "ArgMin"); }},
    {"var", [](Call& c) { write_variance(c, false); }},
    {"std", [](Call& c) { write_variance(c, true); }},
    {"var_correction", [](Call& c) { write_variance(c, false); }},
    {"std_correction", [](Call& c) { write_variance(c, true); }},
    {"norm", write_norm},
    {"any", [](Call& c) { write_truth(c, "ReduceMax"); }},
    {"all", [](Call& c) { write_truth(c, "ReduceMin"); }},
    {"cumsum", write_cumsum},
    {"topk", write_topk},
    {"sort", write_sort},
    {"argsort", [](Call& c) { c.give(sorted(c)[1]); }},
};

}  // namespace

std::span<const Rule> reduce_rules() { return kReduce; }

}  // namespace taeda::inline v0_2::onnx
