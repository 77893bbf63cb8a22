// Convolutions, pools, normalisations, and what changes the size of images.
#include <algorithm>
#include <limits>

#include "taeda/base/error.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// Windows over the spatial dimensions of an input.
struct Windows {
  size_t n;
  std::vector<int64_t> kernel, stride, dilation, before, after;
  bool even = true;  ///< as much padding before as behind
};

/// `auto_pad` in numbers, for the sizes of `x`.
void pad_by_itself(Windows& w, const std::string& mode, const Tensor& x) {
  for (size_t d = 0; d < w.n; ++d) {
    const int64_t size = x.size(static_cast<int64_t>(d) + 2),
                  reach = (w.kernel[d] - 1) * w.dilation[d] + 1,
                  count = (size + w.stride[d] - 1) / w.stride[d],
                  all = std::max<int64_t>(0, (count - 1) * w.stride[d] + reach - size);
    w.before[d] = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
    w.after[d] = all - w.before[d];
  }
}

Windows windows_of_run(const Run& r, const Tensor& x, std::vector<int64_t> kernel) {
  TAEDA_CHECK(x.dim() >= 3 && x.dim() <= 5,
              "it takes images of one to three dimensions, got sizes ", x.sizes());
  Windows w;
  w.n = static_cast<size_t>(x.dim()) - 2;
  const auto list = [&](const char* name) {
    std::vector<int64_t> out = r.integers(name);
    if (out.empty()) out.assign(w.n, 1);
    TAEDA_CHECK(out.size() == w.n, "its ", name, " are ", out.size(), " for ", w.n, " dimensions");
    for (const int64_t v : out)
      TAEDA_CHECK(v > 0 && v < (int64_t{1} << 31), "its ", name, " has ", v);
    return out;
  };
  w.kernel = r.told("kernel_shape") ? list("kernel_shape") : std::move(kernel);
  TAEDA_CHECK(w.kernel.size() == w.n, "its kernel has ", w.kernel.size(), " dimensions for ", w.n);
  w.stride = list("strides");
  w.dilation = list("dilations");
  w.before.assign(w.n, 0);
  w.after.assign(w.n, 0);
  const std::string mode = r.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_by_itself(w, mode, x);
  } else if (const std::vector<int64_t> pads = r.integers("pads"); !pads.empty()) {
    TAEDA_CHECK(pads.size() == 2 * w.n, "it has ", pads.size(), " pads for ", w.n, " dimensions");
    std::copy_n(pads.begin(), w.n, w.before.begin());
    std::copy_n(pads.begin() + static_cast<ptrdiff_t>(w.n), w.n, w.after.begin());
  }
  w.even = w.before == w.after;
  return w;
}

/// The padding that an operation cannot do itself done before it.
Tensor padded(const Tensor& x, Windows& w, double value) {
  if (w.even) return x;
  std::vector<int64_t> pairs;
  for (size_t d = w.n; d-- > 0;) {
    pairs.push_back(w.before[d]);
    pairs.push_back(w.after[d]);
  }
  w.before.assign(w.n, 0);
  w.after.assign(w.n, 0);
  return nn::functional::pad(x, pairs, PaddingMode::Constant, value);
}

std::vector<int64_t> kernel_of(const Tensor& weight) {
  TAEDA_CHECK(weight.dim() >= 3, "its weights have sizes ", weight.sizes());
  return weight.sizes().slice(2, static_cast<size_t>(weight.dim()) - 2).vec();
}

void run_conv(Run& r) {
  Windows w = windows_of_run(r, r.in(0), kernel_of(r.in(1)));
  const Tensor x = padded(r.in(0), w, 0);
  const int64_t groups = r.integer("group", 1);
  const auto run = w.n == 1 ? conv1d : w.n == 2 ? conv2d : conv3d;
  r.give(run(x, r.in(1), r.maybe(2), w.stride, w.before, w.dilation, groups));
}

void run_conv_transpose(Run& r) {
  const Windows w = windows_of_run(r, r.in(0), kernel_of(r.in(1)));
  if (!w.even || r.told("output_shape") || r.text("auto_pad", "NOTSET") != "NOTSET")
    r.refuse("its padding differs between the sides");
  std::vector<int64_t> more = r.integers("output_padding");
  if (more.empty()) more.assign(w.n, 0);
  const auto run = w.n == 1 ? conv_transpose1d : w.n == 2 ? conv_transpose2d : conv_transpose3d;
  r.give(run(r.in(0), r.in(1), r.maybe(2), w.stride, w.before, more, r.integer("group", 1),
             w.dilation));
}

void run_max_pool(Run& r) {
  if (r.wants(1)) r.refuse("its indices are not supported");
  Windows w = windows_of_run(r, r.in(0), {});
  const Tensor x = padded(r.in(0), w, -std::numeric_limits<double>::infinity());
  const auto run = w.n == 1 ? max_pool1d : w.n == 2 ? max_pool2d : max_pool3d;
  r.give(run(x, w.kernel, w.stride, w.before, w.dilation, r.integer("ceil_mode", 0) != 0));
}

void run_average_pool(Run& r) {
  Windows w = windows_of_run(r, r.in(0), {});
  const bool counts = r.integer("count_include_pad", 0) != 0, ceil = r.integer("ceil_mode", 0) != 0;
  if (std::any_of(w.dilation.begin(), w.dilation.end(), [](int64_t d) { return d != 1; }))
    r.refuse("its windows have gaps");
  if (!w.even && !counts) r.refuse("its padding differs between the sides and does not count");
  const Tensor x = padded(r.in(0), w, 0);
  r.give(w.n == 1   ? avg_pool1d(x, w.kernel, w.stride, w.before, ceil, counts)
         : w.n == 2 ? avg_pool2d(x, w.kernel, w.stride, w.before, ceil, counts)
                    : avg_pool3d(x, w.kernel, w.stride, w.before, ceil, counts));
}

/// All dimensions behind batch and channel.
std::vector<int64_t> spatial_of(const Tensor& x) {
  TAEDA_CHECK(x.dim() >= 3, "it takes images, got sizes ", x.sizes());
  std::vector<int64_t> out;
  for (int64_t d = 2; d < x.dim(); ++d) out.push_back(d);
  return out;
}

void run_batch_norm(Run& r) {
  if (r.integer("training_mode", 0) != 0) r.refuse("it is in training mode");
  r.give(
      batch_norm(r.in(0), r.in(1), r.in(2), r.in(3), r.in(4), false, 0, r.real("epsilon", 1e-5)));
}

void run_instance_norm(Run& r) {
  r.give(instance_norm(r.in(0), r.in(1), r.in(2), {}, {}, true, 0, r.real("epsilon", 1e-5)));
}

void run_layer_norm(Run& r) {
  const Tensor& x = r.in(0);
  if (r.wants(1) || r.wants(2)) r.refuse("its mean and deviation are not supported");
  const int64_t axis = wrap_dim(r.integer("axis", -1), x.dim());
  const auto shape =
      x.sizes().slice(static_cast<size_t>(axis), static_cast<size_t>(x.dim() - axis));
  r.give(layer_norm(x, shape, r.in(1).expand(shape), r.has(2) ? r.in(2).expand(shape) : Tensor(),
                    r.real("epsilon", 1e-5)));
}

void run_group_norm(Run& r) {
  constexpr int64_t kPerChannel = 21;
  const int64_t groups = r.integer("num_groups", 0), channels = r.in(0).size(1);
  TAEDA_CHECK(groups > 0 && channels % groups == 0, "it has ", groups, " groups of ", channels,
              " channels");
  const auto each = [&](const Tensor& t) {
    return r.opset >= kPerChannel ? t : t.repeat_interleave(channels / groups, 0);
  };
  r.give(group_norm(r.in(0), groups, each(r.in(1)), each(r.in(2)), r.real("epsilon", 1e-5)));
}

void run_lrn(Run& r) {
  const int64_t size = r.integer("size", 0);
  if (size < 1 || size % 2 == 0) r.refuse("its size is even");
  r.give(local_response_norm(r.in(0), size, r.real("alpha", 1e-4), r.real("beta", 0.75),
                             r.real("bias", 1)));
}

/// What `interpolate` can do: all dimensions behind the channel, in PyTorch's conventions.
void run_resize(Run& r) {
  const Tensor& x = r.in(0);
  const std::string mode = r.text("mode", "nearest"),
                    at = r.text("coordinate_transformation_mode", "half_pixel"),
                    nearest = r.text("nearest_mode", "round_prefer_floor");
  if (r.integer("antialias", 0) != 0 || r.integer("exclude_outside", 0) != 0 || r.told("axes"))
    r.refuse("it resizes with anti-aliasing, with axes of its own or without what lies outside");
  const auto spatial = static_cast<size_t>(spatial_of(x).size());
  nn::functional::InterpolateFuncOptions o;
  if (r.has(3)) {
    const std::vector<int64_t> sizes = r.numbers(3);
    TAEDA_CHECK(sizes.size() == spatial + 2, "it has ", sizes.size(), " sizes for ", x.sizes());
    o.size = std::vector<int64_t>(sizes.begin() + 2, sizes.end());
  } else {
    const Tensor scales = r.in(2).detach().cpu().to(kDouble).contiguous();
    TAEDA_CHECK(scales.numel() == static_cast<int64_t>(spatial) + 2, "it has ", scales.numel(),
                " scales for ", x.sizes());
    const double* p = scales.data_ptr<double>();
    TAEDA_CHECK(p[0] == 1 && p[1] == 1, "it resizes batch or channels");
    o.scale_factor = std::vector<double>(p + 2, p + scales.numel());
  }
  const bool half = at == "half_pixel" || at == "pytorch_half_pixel";
  if (mode == "nearest") {
    if (at == "asymmetric" && nearest == "floor")
      o.mode = kNearest;
    else if (half && nearest == "round_prefer_ceil")
      o.mode = kNearestExact;
    else
      r.refuse("it takes the nearest pixel by the rule " + at + ", " + nearest);
  } else {
    if (!half && at != "align_corners") r.refuse("its places follow the rule " + at);
    const bool cubic = mode == "cubic";
    if (cubic && (r.real("cubic_coeff_a", -0.75) != -0.75 || spatial != 2))
      r.refuse("its cubic curve is another one");
    o.align_corners = at == "align_corners";
    if (cubic)
      o.mode = kBicubic;
    else if (spatial == 1)
      o.mode = kLinear;
    else if (spatial == 2)
      o.mode = kBilinear;
    else
      o.mode = kTrilinear;
  }
  r.give(nn::functional::interpolate(x, o));
}

constexpr Operator kLayerOperators[] = {
    {"Conv", run_conv},
    {"ConvTranspose", run_conv_transpose},
    {"MaxPool", run_max_pool},
    {"AveragePool", run_average_pool},
    {"GlobalAveragePool",
     [](Run& r) { r.give(r.in(0).mean(spatial_of(r.in(0)), /*keepdim=*/true)); }},
    {"GlobalMaxPool", [](Run& r) { r.give(r.in(0).amax(spatial_of(r.in(0)), /*keepdim=*/true)); }},
    {"BatchNormalization", run_batch_norm},
    {"InstanceNormalization", run_instance_norm},
    {"LayerNormalization", run_layer_norm},
    {"GroupNormalization", run_group_norm},
    {"LRN", run_lrn},
    {"Resize", run_resize},
};

}  // namespace

std::span<const Operator> layer_operators() { return kLayerOperators; }

}  // namespace taeda::inline v0_2::onnx
