// Operators that move elements, take parts and make tensors.
#include <algorithm>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/observer.h"

namespace taeda::inline v0_2::onnx {

namespace {

void run_reshape(Run& r) {
  const Tensor& x = r.in(0);
  std::vector<int64_t> shape = r.numbers(1, "shape");
  const bool zero_is_zero = r.integer("allowzero", 0) != 0;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 0 && !zero_is_zero) {
      TAEDA_CHECK(static_cast<int64_t>(d) < x.dim(), "it keeps dimension ", d, " of sizes ",
                  x.sizes());
      shape[d] = x.size(static_cast<int64_t>(d));
    }
  r.give(x.reshape(shape));
}

void run_flatten(Run& r) {
  const Tensor& x = r.in(0);
  int64_t axis = r.integer("axis", 1);
  if (axis < 0) axis += x.dim();
  TAEDA_CHECK(axis >= 0 && axis <= x.dim(), "its axis ", axis, " is none of sizes ", x.sizes());
  const int64_t rows = product(x.sizes().slice(0, static_cast<size_t>(axis)));
  r.give(x.reshape({rows, rows == 0 ? 0 : x.numel() / rows}));
}

void run_transpose(Run& r) {
  const Tensor& x = r.in(0);
  std::vector<int64_t> order = r.integers("perm");
  if (!r.told("perm"))
    for (int64_t d = x.dim() - 1; d >= 0; --d) order.push_back(d);
  r.give(x.permute(order));
}

void run_squeeze(Run& r) {
  Tensor x = r.in(0);
  std::vector<int64_t> axes = r.numbers(1, "axes");
  if (axes.empty()) return r.give(x.squeeze());
  for (int64_t& d : axes) d = wrap_dim(d, x.dim());
  std::sort(axes.rbegin(), axes.rend());
  for (const int64_t d : axes) {
    TAEDA_CHECK(x.size(d) == 1, "dimension ", d, " of sizes ", x.sizes(), " is not 1");
    x = x.squeeze(d);
  }
  r.give(x);
}

void run_unsqueeze(Run& r) {
  Tensor x = r.in(0);
  std::vector<int64_t> axes = r.numbers(1, "axes");
  const int64_t rank = x.dim() + static_cast<int64_t>(axes.size());
  for (int64_t& d : axes) d = wrap_dim(d, rank);
  std::sort(axes.begin(), axes.end());
  for (const int64_t d : axes) x = x.unsqueeze(d);
  r.give(x);
}

void run_concat(Run& r) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < r.count(); ++i) parts.push_back(r.in(i).to(r.in(0).device()));
  TAEDA_CHECK(r.told("axis"), "it does not say along which axis");
  r.give(cat(parts, r.integer("axis", 0)));
}

void run_split(Run& r) {
  const Tensor& x = r.in(0);
  const int64_t axis = wrap_dim(r.integer("axis", 0), x.dim());
  std::vector<int64_t> sizes = r.numbers(1, "split");
  const auto n = static_cast<int64_t>(r.node.outputs.size());
  TAEDA_CHECK(n > 0, "it has no outputs");
  if (sizes.empty()) {
    const int64_t each = (x.size(axis) + n - 1) / n;
    for (int64_t left = x.size(axis), i = 0; i < n; ++i) {
      sizes.push_back(std::min(each, left));
      left -= sizes.back();
    }
  }
  const std::vector<Tensor> parts = x.split(sizes, axis);
  TAEDA_CHECK(static_cast<int64_t>(parts.size()) == n, "it makes ", parts.size(), " parts for ", n,
              " outputs");
  for (size_t k = 0; k < parts.size(); ++k) r.give(parts[k], k);
}

/// A slice by numpy's rules, with a negative step, too.
Tensor slice_along(const Tensor& x, int64_t axis, int64_t start, int64_t end, int64_t step) {
  TAEDA_CHECK(step != 0 && step != std::numeric_limits<int64_t>::min(), "its step is ", step);
  if (step > 0) return x.slice(axis, start, end, step);
  const int64_t size = x.size(axis);
  const auto clamped = [&](int64_t at) {
    if (at < 0) at = at < -size ? -1 : at + size;
    return std::min(at, size - 1);
  };
  const int64_t first = clamped(start), last = clamped(end);
  // Reversed, what was at `first` is at size - 1 - first.
  if (first <= last) return x.narrow(axis, 0, 0);
  return x.flip(axis).slice(axis, size - 1 - first, size - 1 - last, -step);
}

void run_slice(Run& r) {
  Tensor x = r.in(0);
  const std::vector<int64_t> starts = r.numbers(1, "starts"), ends = r.numbers(2, "ends");
  std::vector<int64_t> axes = r.numbers(3, "axes");
  std::vector<int64_t> steps = r.has(4) ? r.numbers(4) : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  TAEDA_CHECK(
      ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
      "its starts, ends, axes and steps are not as many");
  for (size_t i = 0; i < starts.size(); ++i)
    x = slice_along(x, wrap_dim(axes[i], x.dim()), starts[i], ends[i], steps[i]);
  r.give(x);
}

/// Indices from the end counted from the beginning.
Tensor from_front(const Tensor& indices, int64_t size) {
  const Tensor index = indices.to(kLong);
  return where(index.lt(0), index.add(size), index);
}

void run_gather(Run& r) {
  const Tensor& x = r.in(0);
  const int64_t axis = wrap_dim(r.integer("axis", 0), x.dim());
  const Tensor index = from_front(r.in(1).to(x.device()), x.size(axis));
  if (index.dim() == 0) return r.give(x.index_select(axis, index.reshape({1})).squeeze(axis));
  if (axis == 0 && x.dim() == 2 && x.is_floating_point()) return r.give(embedding(x, index));
  DimVector sizes(x.sizes().slice(0, static_cast<size_t>(axis)));
  for (const int64_t n : index.sizes()) sizes.push_back(n);
  for (int64_t d = axis + 1; d < x.dim(); ++d) sizes.push_back(x.size(d));
  r.give(x.index_select(axis, index.reshape({-1})).reshape(sizes));
}

void run_gather_elements(Run& r) {
  const Tensor& x = r.in(0);
  const int64_t axis = wrap_dim(r.integer("axis", 0), x.dim());
  r.give(x.gather(axis, from_front(r.in(1).to(x.device()), x.size(axis))));
}

void run_scatter_elements(Run& r) {
  const Tensor& x = r.in(0);
  if (r.text("reduction", "none") != "none") r.refuse("its reduction is not supported");
  const int64_t axis = wrap_dim(r.integer("axis", 0), x.dim());
  r.give(x.scatter(axis, from_front(r.in(1).to(x.device()), x.size(axis)), r.in(2)));
}

void run_expand(Run& r) {
  const Tensor& x = r.in(0);
  const std::vector<int64_t> shape = r.numbers(1);
  r.give(x.expand(broadcast_sizes(x.sizes(), shape)));
}

void run_shape(Run& r) {
  const Tensor& x = r.in(0);
  int64_t start = r.integer("start", 0), end = r.integer("end", x.dim());
  if (start < 0) start += x.dim();
  if (end < 0) end += x.dim();
  start = std::clamp<int64_t>(start, 0, x.dim());
  end = std::clamp<int64_t>(end, start, x.dim());
  const auto sizes = x.sizes().slice(static_cast<size_t>(start), static_cast<size_t>(end - start));
  if (!is_observed()) return r.give(tensor(sizes.vec(), kLong));
  // Each as an operation's argument, so that who follows this run sees where it comes from.
  std::vector<Tensor> parts{zeros({0}, kLong)};
  for (const int64_t size : sizes) parts.push_back(full({1}, size, kLong));
  r.give(cat(parts));
}

void run_constant(Run& r) {
  if (r.told("value")) return r.give(r.tensor("value"));
  if (r.told("value_float")) return r.give(scalar_tensor(r.real("value_float", 0), kFloat));
  if (r.told("value_int")) return r.give(scalar_tensor(r.integer("value_int", 0), kLong));
  if (r.told("value_floats")) return r.give(tensor(r.reals("value_floats"), kFloat));
  if (r.told("value_ints")) return r.give(tensor(r.integers("value_ints"), kLong));
  r.refuse("its value is no tensor of numbers");
}

void run_constant_of_shape(Run& r) {
  const Tensor value = r.told("value") ? r.tensor("value") : zeros({1}, kFloat);
  TAEDA_CHECK(value.numel() == 1, "its value has ", value.numel(), " elements");
  // One element seen many times: the file does not say how much memory is taken.
  r.give(value.reshape({}).expand(r.numbers(0)));
}

void run_range(Run& r) {
  const ScalarType dtype = r.in(0).dtype();
  r.give(arange(r.in(0).item(), r.in(1).item(), r.in(2).item(), dtype));
}

/// One dimension after the other, in modes that take their values from the tensor.
Tensor pad_each(Tensor x, const std::vector<int64_t>& pairs, PaddingMode how) {
  for (int64_t d = 0; d < x.dim(); ++d) {
    const auto at = 2 * static_cast<size_t>(x.dim() - 1 - d);
    if (pairs[at] == 0 && pairs[at + 1] == 0) continue;
    const Tensor last = x.movedim(d, -1);
    DimVector sizes = last.sizes();
    const Tensor padded =
        nn::functional::pad(last.reshape({1, -1, last.size(-1)}), {pairs[at], pairs[at + 1]}, how);
    sizes.back() = padded.size(-1);
    x = padded.reshape(sizes).movedim(-1, d);
  }
  return x;
}

void run_pad(Run& r) {
  const Tensor& x = r.in(0);
  const std::vector<int64_t> pads = r.numbers(1, "pads");
  std::vector<int64_t> axes = r.has(3) ? r.numbers(3) : std::vector<int64_t>();
  if (!r.has(3))
    for (int64_t d = 0; d < x.dim(); ++d) axes.push_back(d);
  TAEDA_CHECK(pads.size() == 2 * axes.size(), "it has ", pads.size(), " pads for ", axes.size(),
              " axes");
  const std::string mode = r.text("mode", "constant");
  const PaddingMode how =
      mode == "constant"  ? PaddingMode::Constant
      : mode == "reflect" ? PaddingMode::Reflect
      : mode == "edge"    ? PaddingMode::Replicate
      : mode == "wrap"    ? PaddingMode::Circular
                          : (r.refuse("its mode '" + mode + "' is unknown"), PaddingMode::Constant);
  std::vector<int64_t> pairs(2 * static_cast<size_t>(x.dim()), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto from_last = static_cast<size_t>(x.dim() - 1 - wrap_dim(axes[i], x.dim()));
    pairs[2 * from_last] = pads[i];
    pairs[2 * from_last + 1] = pads[i + axes.size()];
  }
  const double value = r.has(2) ? r.in(2).item().toDouble() : r.real("value", 0);
  if (how == PaddingMode::Constant)
    r.give(nn::functional::pad(x, pairs, how, value));
  else
    r.give(pad_each(x, pairs, how));
}

void run_trilu(Run& r) {
  const int64_t k = r.has(1) ? r.in(1).item<int64_t>() : 0;
  r.give(r.integer("upper", 1) != 0 ? triu(r.in(0), k) : tril(r.in(0), k));
}

void run_one_hot(Run& r) {
  const auto depth = r.in(1).item<int64_t>();
  const Tensor& values = r.in(2);
  TAEDA_CHECK(depth > 0 && values.numel() == 2, "it has the depth ", depth, " and ", values.numel(),
              " values");
  const Tensor index = from_front(r.in(0), depth);
  const int64_t axis = wrap_dim(r.integer("axis", -1), index.dim() + 1);
  DimVector shape(static_cast<size_t>(index.dim()) + 1, 1);
  shape[static_cast<size_t>(axis)] = depth;
  const Tensor hot = index.unsqueeze(axis).eq(arange(depth, kLong).reshape(shape));
  r.give(where(hot, values.select(0, 1), values.select(0, 0)));
}

/// Blocks of the channels as pixels, or pixels as channels.
void run_depth_to_space(Run& r) {
  const Tensor& x = r.in(0);
  const int64_t b = r.integer("blocksize", 0);
  TAEDA_CHECK(x.dim() == 4 && b > 0 && x.size(1) % (b * b) == 0, "it cannot cut sizes ", x.sizes(),
              " into blocks of ", b);
  const int64_t n = x.size(0), c = x.size(1) / (b * b), h = x.size(2), w = x.size(3);
  const Tensor y = r.text("mode", "DCR") == "CRD"
                       ? x.reshape({n, c, b, b, h, w}).permute({0, 1, 4, 2, 5, 3})
                       : x.reshape({n, b, b, c, h, w}).permute({0, 3, 4, 1, 5, 2});
  r.give(y.reshape({n, c, h * b, w * b}));
}

constexpr Operator kShapeOperators[] = {
    {"Reshape", run_reshape},
    {"Flatten", run_flatten},
    {"Transpose", run_transpose},
    {"Squeeze", run_squeeze},
    {"Unsqueeze", run_unsqueeze},
    {"Concat", run_concat},
    {"Split", run_split},
    {"Slice", run_slice},
    {"Gather", run_gather},
    {"GatherElements", run_gather_elements},
    {"ScatterElements", run_scatter_elements},
    {"Expand", run_expand},
    {"Tile", [](Run& r) { r.give(r.in(0).repeat(r.numbers(1))); }},
    {"Shape", run_shape},
    {"Size", [](Run& r) { r.give(scalar_tensor(r.in(0).numel(), kLong)); }},
    {"Constant", run_constant},
    {"ConstantOfShape", run_constant_of_shape},
    {"Range", run_range},
    {"Pad", run_pad},
    {"Trilu", run_trilu},
    {"OneHot", run_one_hot},
    {"DepthToSpace", run_depth_to_space},
};

}  // namespace

std::span<const Operator> shape_operators() { return kShapeOperators; }

}  // namespace taeda::inline v0_2::onnx
