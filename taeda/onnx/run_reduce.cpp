// Operators that reduce, scan and order.
#include "taeda/base/error.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// Which dimensions, and what becomes of them.
struct Axes {
  std::vector<int64_t> dims;
  bool keep, none;
};

Axes axes_of_run(const Run& r, const Tensor& x) {
  Axes out{r.numbers(1, "axes"), r.integer("keepdims", 1) != 0, false};
  if (out.dims.empty()) {
    out.none = r.integer("noop_with_empty_axes", 0) != 0;
    for (int64_t d = 0; d < x.dim(); ++d) out.dims.push_back(d);
  }
  return out;
}

template <auto function>
void reduction(Run& r) {
  const Tensor& x = r.in(0);
  const Axes axes = axes_of_run(r, x);
  r.give(axes.none || x.dim() == 0 ? function(x.unsqueeze(0), std::vector<int64_t>{0}, false)
                                   : function(x, axes.dims, axes.keep));
}

using Dims = std::vector<int64_t>;

Tensor product_over(const Tensor& x, const Dims& dims, bool keep) {
  Tensor out = x;
  for (const int64_t d : dims) out = out.prod(d, /*keepdim=*/true);
  if (keep) return out;
  DimVector sizes;
  std::vector<bool> gone(static_cast<size_t>(x.dim()));
  for (const int64_t d : dims) gone[static_cast<size_t>(wrap_dim(d, x.dim()))] = true;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (!gone[static_cast<size_t>(d)]) sizes.push_back(x.size(d));
  return out.reshape(sizes).to(x.dtype());
}

Tensor sum_over(const Tensor& x, const Dims& dims, bool keep) {
  return x.sum(dims, keep).to(x.dtype());
}

/// The index of the largest or smallest, the last of several if asked for.
void run_arg(Run& r, bool largest) {
  const Tensor& x = r.in(0);
  const int64_t axis = wrap_dim(r.integer("axis", 0), x.dim());
  const bool keep = r.integer("keepdims", 1) != 0, last = r.integer("select_last_index", 0) != 0;
  const Tensor y = last ? x.flip(axis) : x;
  Tensor out = largest ? y.argmax(axis, keep) : y.argmin(axis, keep);
  r.give(last ? out.neg().add(x.size(axis) - 1) : out);
}

void run_topk(Run& r) {
  const int64_t k = r.has(1) ? r.numbers(1).at(0) : r.integer("k", 1);
  const auto [values, indices] =
      r.in(0).topk(k, r.integer("axis", -1), r.integer("largest", 1) != 0);
  r.give(values, 0);
  r.give(indices, 1);
}

void run_cumsum(Run& r) {
  const Tensor& x = r.in(0);
  const int64_t axis = wrap_dim(r.in(1).item<int64_t>(), x.dim());
  const bool reverse = r.integer("reverse", 0) != 0, exclusive = r.integer("exclusive", 0) != 0;
  Tensor y = reverse ? x.flip(axis) : x;
  Tensor out = y.cumsum(axis).to(x.dtype());
  if (exclusive) out = out.sub(y);
  r.give(reverse ? out.flip(axis) : out);
}

/// Along one axis; before operator set 13, over all dimensions from it on.
template <auto function>
void softmax_operator(Run& r) {
  constexpr int64_t kOneAxis = 13;
  const Tensor& x = r.in(0);
  if (r.opset >= kOneAxis) return r.give(function(x, r.integer("axis", -1)));
  const int64_t axis = wrap_dim(r.integer("axis", 1), x.dim());
  const int64_t rows = product(x.sizes().slice(0, static_cast<size_t>(axis)));
  const Tensor flat = x.reshape({rows, rows == 0 ? 0 : x.numel() / rows});
  r.give(function(flat, 1).reshape(x.sizes()));
}

constexpr Operator kReductions[] = {
    {"ReduceSum", reduction<sum_over>},
    {"ReduceMean", reduction<[](const Tensor& x, const Dims& d, bool k) { return x.mean(d, k); }>},
    {"ReduceMax", reduction<[](const Tensor& x, const Dims& d, bool k) { return x.amax(d, k); }>},
    {"ReduceMin", reduction<[](const Tensor& x, const Dims& d, bool k) { return x.amin(d, k); }>},
    {"ReduceProd", reduction<product_over>},
    {"ReduceL1",
     reduction<[](const Tensor& x, const Dims& d, bool k) { return sum_over(x.abs(), d, k); }>},
    {"ReduceL2",
     reduction<[](const Tensor& x, const Dims& d, bool k) { return x.square().sum(d, k).sqrt(); }>},
    {"ReduceSumSquare",
     reduction<[](const Tensor& x, const Dims& d, bool k) { return sum_over(x.square(), d, k); }>},
    {"ReduceLogSum",
     reduction<[](const Tensor& x, const Dims& d, bool k) { return x.sum(d, k).log(); }>},
    {"ReduceLogSumExp",
     reduction<[](const Tensor& x, const Dims& d, bool k) { return x.logsumexp(d, k); }>},
    {"ArgMax", [](Run& r) { run_arg(r, true); }},
    {"ArgMin", [](Run& r) { run_arg(r, false); }},
    {"TopK", run_topk},
    {"CumSum", run_cumsum},
    {"Softmax", softmax_operator<[](const Tensor& x, int64_t axis) { return x.softmax(axis); }>},
    {"LogSoftmax",
     softmax_operator<[](const Tensor& x, int64_t axis) { return x.log_softmax(axis); }>},
};

}  // namespace

std::span<const Operator> reduce_operators() { return kReductions; }

}  // namespace taeda::inline v0_2::onnx
