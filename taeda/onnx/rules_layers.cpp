// Convolutions, normalisations, softmax and what changes the size of images.
#include <algorithm>
#include <limits>

#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kHasLayerNorm = 17;

/// A convolution of an input without a batch, too.
template <class Write>
void with_batch(Call& c, size_t spatial, Write&& write) {
  const bool batched = c.rank(0) == static_cast<int64_t>(spatial) + 2;
  const std::string x = batched ? c.in(0) : c.unsqueeze(c.in(0), {0});
  const std::string out = write(x);
  c.give(batched ? out : c.squeeze(out, {0}));
}

std::vector<int64_t> twice(std::vector<int64_t> list) {
  const std::vector<int64_t> once = list;
  list.insert(list.end(), once.begin(), once.end());
  return list;
}

/// (input, weight, bias, stride, padding, dilation, groups)
void write_conv(Call& c, size_t n) {
  std::vector<int64_t> kernel;
  for (size_t d = 0; d < n; ++d) kernel.push_back(c.fixed_size(1, static_cast<int64_t>(d) + 2));
  const std::vector<int64_t> dilation = c.spread(5, n);
  std::vector<int64_t> pads;
  if (c.is<std::string>(4)) {  // "same": the odd one behind
    std::vector<int64_t> behind;
    for (size_t d = 0; d < n; ++d) {
      const int64_t all = dilation[d] * (kernel[d] - 1);
      pads.push_back(all / 2);
      behind.push_back(all - all / 2);
    }
    pads.insert(pads.end(), behind.begin(), behind.end());
  } else {
    pads = twice(c.spread(4, n, 0));
  }
  with_batch(c, n, [&](const std::string& x) {
    return c.emit("Conv", {x, c.in(1), c.in(2)},
                  {{"kernel_shape", kernel},
                   {"strides", c.spread(3, n)},
                   {"pads", pads},
                   {"dilations", dilation},
                   {"group", c.integer(6, 1)}});
  });
}

/// (input, weight, bias, stride, padding, output_padding, groups, dilation)
void write_conv_transpose(Call& c, size_t n) {
  std::vector<int64_t> kernel;
  for (size_t d = 0; d < n; ++d) kernel.push_back(c.fixed_size(1, static_cast<int64_t>(d) + 2));
  with_batch(c, n, [&](const std::string& x) {
    return c.emit("ConvTranspose", {x, c.in(1), c.in(2)},
                  {{"kernel_shape", kernel},
                   {"strides", c.spread(3, n)},
                   {"pads", twice(c.spread(4, n, 0))},
                   {"output_padding", c.spread(5, n, 0)},
                   {"group", c.integer(6, 1)},
                   {"dilations", c.spread(7, n)}});
  });
}

/// The tensor in argument `i`, or as many `value`s.
std::string or_filled(Call& c, size_t i, std::vector<int64_t> sizes, double value) {
  return c.has(i) ? c.in(i) : c.constant(full(sizes, value, c.dtype()));
}

/// (input, weight, bias, running_mean, running_var, training, momentum, eps)
void write_batch_norm(Call& c) {
  if (c.flag(5)) c.refuse("it normalises with the batch's own statistics");
  const int64_t channels = c.fixed_size(0, 1);
  c.give(c.emit(
      "BatchNormalization",
      {c.in(0), or_filled(c, 1, {channels}, 1), or_filled(c, 2, {channels}, 0), c.in(3), c.in(4)},
      {{"epsilon", c.real(7, 1e-5)}}));
}

/// (input, normalized_shape, weight, bias, eps)
void write_layer_norm(Call& c) {
  const std::vector<int64_t> shape = c.integers(1);
  if (c.opset() < kHasLayerNorm) c.refuse("operator sets before 17 have no LayerNormalization");
  c.give(c.emit("LayerNormalization", {c.in(0), or_filled(c, 2, shape, 1), c.in(3)},
                {{"axis", -static_cast<int64_t>(shape.size())}, {"epsilon", c.real(4, 1e-5)}}));
}

/// (input, normalized_shape, weight, eps)
void write_rms_norm(Call& c) {
  const auto n = static_cast<int64_t>(c.integers(1).size());
  std::vector<int64_t> axes;
  for (int64_t d = -n; d < 0; ++d) axes.push_back(d);
  const double epsilon = c.dtype() == kDouble ? std::numeric_limits<double>::epsilon()
                                              : std::numeric_limits<float>::epsilon();
  const std::string x = c.in(0);
  const std::string mean = c.reduce("ReduceMean", c.emit("Mul", {x, x}), axes, true);
  const std::string sum = c.emit("Add", {mean, c.number(c.real(3, epsilon), c.dtype())});
  const std::string out = c.emit("Div", {x, c.emit("Sqrt", {sum})});
  c.give(c.has(2) ? c.emit("Mul", {out, c.in(2)}) : out);
}

/// `name` times weight (argument `w`) plus bias (`w + 1`), each a number for every channel.
std::string scaled_channels(Call& c, std::string name, size_t w) {
  std::vector<Size> shape{fixed(c.fixed_size(0, 1))};
  for (int64_t d = 2; d < c.rank(0); ++d) shape.push_back(fixed(1));
  if (c.has(w)) name = c.emit("Mul", {name, c.reshape(c.in(w), c.sizes_of_argument(w), shape)});
  if (c.has(w + 1))
    name = c.emit("Add", {name, c.reshape(c.in(w + 1), c.sizes_of_argument(w + 1), shape)});
  return name;
}

/// (input, num_groups, weight, bias, eps): an instance norm of the groups.
void write_group_norm(Call& c) {
  const int64_t groups = c.integer(1);
  const std::string grouped = c.emit("Reshape", {c.in(0), c.ints({0, groups, -1})});
  const std::string ones = c.constant(full({groups}, 1, c.dtype())),
                    zeros = c.constant(full({groups}, 0, c.dtype()));
  const std::string out =
      c.emit("InstanceNormalization", {grouped, ones, zeros}, {{"epsilon", c.real(4, 1e-5)}});
  const std::vector<Size> sizes = c.sizes_of_argument(0);
  std::vector<Size> from{sizes[0], fixed(groups), fixed(-1)};
  c.give(scaled_channels(c, c.reshape(out, from, sizes), 2));
}

/// (input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)
void write_instance_norm(Call& c) {
  if (!c.flag(5, true)) c.refuse("it uses running statistics");
  if (c.rank(0) < 3) c.refuse("its input has no batch");
  const int64_t channels = c.fixed_size(0, 1);
  c.give(c.emit("InstanceNormalization",
                {c.in(0), or_filled(c, 1, {channels}, 1), or_filled(c, 2, {channels}, 0)},
                {{"epsilon", c.real(7, 1e-5)}}));
}

/// (input, size, alpha, beta, k)
void write_local_response_norm(Call& c) {
  const int64_t size = c.integer(1);
  if (size % 2 == 0) c.refuse("its size is even, and ONNX puts the odd channel on the other side");
  c.give(c.emit("LRN", {c.in(0)},
                {{"size", size},
                 {"alpha", c.real(2, 1e-4)},
                 {"beta", c.real(3, 0.75)},
                 {"bias", c.real(4, 1)}}));
}

/// (input, p, dim, eps)
void write_normalize(Call& c) {
  const double p = c.real(1, 2);
  if (p != 1 && p != 2) c.refuse("p is neither 1 nor 2");
  const std::string norm =
      c.reduce(p == 1 ? "ReduceL1" : "ReduceL2", c.in(0), {c.dim(2, c.rank(0), 1)}, true);
  c.give(c.emit("Div", {c.in(0), c.emit("Max", {norm, c.number(c.real(3, 1e-12), c.dtype())})}));
}

/// (self, dim, dtype)
void write_softmax(Call& c, const char* op, bool mirrored = false) {
  std::string x = c.operand(0, c.dtype());
  if (mirrored) x = c.emit("Neg", {x});
  c.give(c.emit(op, {x}, {{"axis", c.dim(1, std::max<int64_t>(c.rank(0), 1))}}));
}

/// (input, p, training): in evaluation nothing happens, and then nothing is traced.
void write_dropout(Call& c) {
  c.refuse(
      "it drops elements by chance; export after eval(), and call dropout with the module's "
      "is_training()");
}

/// (input, mode, size, scale_factor, align_corners, recompute_scale_factor, antialias)
void write_interpolate(Call& c) {
  const std::string mode = c.text(1);
  if (mode == "area") c.refuse("it takes the means of areas; use adaptive_avg_pool");
  if (c.flag(6)) c.refuse("with antialias=true its filter is as wide as the change of size asks");
  const bool corners = c.flag(4), nearest = mode.starts_with("nearest");
  Attributes attributes{
      {"mode", std::string(nearest             ? "nearest"
                           : mode == "bicubic" ? "cubic"
                                               : "linear")},
      {"coordinate_transformation_mode", std::string(corners             ? "align_corners"
                                                     : mode == "nearest" ? "asymmetric"
                                                                         : "half_pixel")}};
  if (nearest)
    attributes.emplace("nearest_mode",
                       std::string(mode == "nearest" ? "floor" : "round_prefer_ceil"));
  if (mode == "bicubic") attributes.emplace("cubic_coeff_a", -0.75);
  if (c.is<std::vector<double>>(3) && !c.flag(5)) {
    std::vector<double> scales{1, 1};
    const auto& given = std::get<std::vector<double>>(c.traced().arguments[3]);
    scales.insert(scales.end(), given.begin(), given.end());
    return c.give(c.emit("Resize", {c.in(0), "", c.constant(tensor(scales, kFloat))}, attributes));
  }
  const std::string sizes = c.lowering().size_list(c.sizes_of(c.result()));
  c.give(c.emit("Resize", {c.in(0), "", "", sizes}, attributes));
}

constexpr Rule kLayers[] = {
    {"conv1d", [](Call& c) { write_conv(c, 1); }},
    {"conv2d", [](Call& c) { write_conv(c, 2); }},
    {"conv3d", [](Call& c) { write_conv(c, 3); }},
    {"conv_transpose1d", [](Call& c) { write_conv_transpose(c, 1); }},
    {"conv_transpose2d", [](Call& c) { write_conv_transpose(c, 2); }},
    {"conv_transpose3d", [](Call& c) { write_conv_transpose(c, 3); }},
    {"batch_norm", write_batch_norm},
    {"layer_norm", write_layer_norm},
    {"rms_norm", write_rms_norm},
    {"group_norm", write_group_norm},
    {"instance_norm", write_instance_norm},
    {"local_response_norm", write_local_response_norm},
    {"normalize", write_normalize},
    {"softmax", [](Call& c) { write_softmax(c, "Softmax"); }},
    {"log_softmax", [](Call& c) { write_softmax(c, "LogSoftmax"); }},
    {"softmin", [](Call& c) { write_softmax(c, "Softmax", true); }},
    {"dropout", write_dropout},
    {"feature_dropout", write_dropout},
    {"alpha_dropout", write_dropout},
    {"feature_alpha_dropout", write_dropout},
    {"interpolate", write_interpolate},
};

}  // namespace

std::span<const Rule> layer_rules() { return kLayers; }

}  // namespace taeda::inline v0_2::onnx
