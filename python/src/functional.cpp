#include "functional.h"

#include "bindings.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/modules/adaptive_rule.h"
#include "taeda/nn/weight_rules.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

namespace F = taeda::nn::functional;
using Sizes = std::vector<int64_t>;
using MaybeSizes = std::optional<Sizes>;
using MaybeReals = std::optional<std::vector<double>>;

/// The value of a name in a table; `what` is said of names that are not in it.
template <class T, size_t N>
T named(const std::pair<const char*, T> (&table)[N], const std::string& name,
        const std::string& what) {
  for (const auto& [known, value] : table)
    if (name == known) return value;
  raise(PyExc_NotImplementedError, what + name);
}

PaddingMode padding_mode(const std::string& name) {
  static constexpr std::pair<const char*, PaddingMode> table[] = {{"constant", kConstant},
                                                                  {"reflect", kReflect},
                                                                  {"replicate", kReplicate},
                                                                  {"circular", kCircular}};
  return named(table, name, "Unrecognised padding mode ");
}

nn::InterpolationMode interpolation(const std::string& name) {
  if (name == "linear") return kLinear;
  static constexpr std::pair<const char*, Interpolation> table[] = {
      {"nearest", kNearest},   {"nearest-exact", kNearestExact},
      {"bilinear", kBilinear}, {"trilinear", kTrilinear},
      {"bicubic", kBicubic},   {"area", kArea}};
  return named(table, name, "Input Error: Only 3D, 4D and 5D input Tensors supported, got mode ");
}

Tensor pad(const Tensor& input, const Sizes& sizes, const std::string& mode, double value) {
  const PaddingMode kind = padding_mode(mode);
  const ReleaseGil released;
  return F::pad(input, sizes, kind, value);
}

Tensor interpolate(const Tensor& input, const MaybeSizes& size, const MaybeReals& scale_factor,
                   const std::string& mode, std::optional<bool> align_corners,
                   std::optional<bool> recompute_scale_factor, bool antialias) {
  const auto kind = interpolation(mode);
  const ReleaseGil released;
  return F::interpolate(input, {.size = size,
                                .scale_factor = scale_factor,
                                .mode = kind,
                                .align_corners = align_corners,
                                .recompute_scale_factor = recompute_scale_factor,
                                .antialias = antialias});
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, const std::string& mode,
                   const std::string& padding, std::optional<bool> align_corners) {
  static constexpr std::pair<const char*, PaddingMode> table[] = {
      {"zeros", kZeros}, {"border", kBorder}, {"reflection", kReflection}};
  const PaddingMode outside = named(table, padding, "grid_sample: unknown padding_mode ");
  const Interpolation kind = interpolation(mode);
  const ReleaseGil released;
  return F::grid_sample(input, grid,
                        {.mode = kind, .padding_mode = outside, .align_corners = align_corners});
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq,
                     const std::string& mode, bool sparse, const Tensor& per_sample_weights,
                     bool include_last_offset, std::optional<int64_t> padding_idx) {
  const nn::EmbeddingBagMode how = mode == "sum"   ? nn::EmbeddingBagMode(kSum)
                                   : mode == "max" ? nn::EmbeddingBagMode(kMax)
                                                   : nn::EmbeddingBagMode(kMean);
  const ReleaseGil released;
  return F::embedding_bag(input, weight,
                          {.offsets = offsets,
                           .max_norm = max_norm,
                           .norm_type = norm_type,
                           .scale_grad_by_freq = scale_grad_by_freq,
                           .mode = how,
                           .sparse = sparse,
                           .per_sample_weights = per_sample_weights,
                           .include_last_offset = include_last_offset,
                           .padding_idx = padding_idx});
}

Tensor embedding(const Tensor& input, const Tensor& weight, std::optional<int64_t> padding_idx,
                 std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq,
                 bool sparse) {
  const ReleaseGil released;
  return F::embedding(input, weight,
                      {.padding_idx = padding_idx,
                       .max_norm = max_norm,
                       .norm_type = norm_type,
                       .scale_grad_by_freq = scale_grad_by_freq,
                       .sparse = sparse});
}

py::tuple attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim,
                    int64_t num_heads, const Tensor& in_weight, const Tensor& in_bias,
                    const Tensor& bias_k, const Tensor& bias_v, bool add_zero_attn,
                    double dropout_p, const Tensor& out_weight, const Tensor& out_bias,
                    bool training, const Tensor& key_padding_mask, bool need_weights,
                    const Tensor& attn_mask, bool separate, const Tensor& q_weight,
                    const Tensor& k_weight, const Tensor& v_weight, const Tensor& static_k,
                    const Tensor& static_v, bool average_attn_weights) {
  const F::MultiheadAttentionForwardFuncOptions options{
      .embed_dim_to_check = embed_dim,
      .num_heads = num_heads,
      .in_proj_weight = in_weight,
      .in_proj_bias = in_bias,
      .bias_k = bias_k,
      .bias_v = bias_v,
      .add_zero_attn = add_zero_attn,
      .dropout_p = dropout_p,
      .out_proj_weight = out_weight,
      .out_proj_bias = out_bias,
      .training = training,
      .key_padding_mask = key_padding_mask,
      .need_weights = need_weights,
      .attn_mask = attn_mask,
      .use_separate_proj_weight = separate,
      .q_proj_weight = q_weight,
      .k_proj_weight = k_weight,
      .v_proj_weight = v_weight,
      .static_k = static_k,
      .static_v = static_v,
      .average_attn_weights = average_attn_weights};
  auto [output, weights] = [&] {
    const ReleaseGil released;
    return F::multi_head_attention_forward(query, key, value, options);
  }();
  return py::make_tuple(output, need_weights ? py::cast(weights) : py::none());
}

void add_images(py::module_& m) {
  m.def("pad", &pad);
  m.def("interpolate", &interpolate);
  m.def("grid_sample", &grid_sample);
  m.def("affine_grid", [](const Tensor& theta, const Sizes& size, bool align_corners) {
    const ReleaseGil released;
    return F::affine_grid(theta, size, align_corners);
  });
  m.def("pixel_shuffle",
        [](const Tensor& x, int64_t factor) { return F::pixel_shuffle(x, factor); });
  m.def("pixel_unshuffle",
        [](const Tensor& x, int64_t factor) { return F::pixel_unshuffle(x, factor); });
  m.def("unfold", [](const Tensor& x, const Sizes& kernel, const Sizes& dilation,
                     const Sizes& padding, const Sizes& stride) {
    const ReleaseGil released;
    return F::unfold(
        x, {.kernel_size = kernel, .dilation = dilation, .padding = padding, .stride = stride});
  });
  m.def("fold", [](const Tensor& x, const Sizes& size, const Sizes& kernel, const Sizes& dilation,
                   const Sizes& padding, const Sizes& stride) {
    const ReleaseGil released;
    return F::fold(x, {.output_size = size,
                       .kernel_size = kernel,
                       .dilation = dilation,
                       .padding = padding,
                       .stride = stride});
  });
  m.def("max_unpool", [](const Tensor& x, const Tensor& indices, const Sizes& kernel,
                         const Sizes& stride, const Sizes& padding, const MaybeSizes& size) {
    const ReleaseGil released;
    return F::detail::max_unpool(x, indices, kernel, stride, padding, size);
  });
  m.def("lp_pool", [](const Tensor& x, double norm_type, const Sizes& kernel, const Sizes& stride,
                      bool ceil_mode) {
    const ReleaseGil released;
    return F::detail::lp_pool(x, norm_type, kernel, stride, ceil_mode);
  });
}

template <size_t D>
std::tuple<Tensor, Tensor> fractional(const Tensor& x, const Sizes& kernel, const MaybeSizes& size,
                                      const MaybeReals& ratio, const Tensor& samples) {
  nn::FractionalMaxPoolOptions<D> options{nn::ExpandingArray<D>(kernel)};
  if (size) options.output_size(nn::ExpandingArray<D>(*size));
  if (ratio) options.output_ratio(nn::ExpandingArray<D, double>(*ratio));
  options._random_samples(samples);
  const ReleaseGil released;
  if constexpr (D == 2)
    return F::fractional_max_pool2d_with_indices(x, options);
  else
    return F::fractional_max_pool3d_with_indices(x, options);
}

Reduction reduction(const std::string& name) {
  static constexpr std::pair<const char*, Reduction> table[] = {
      {"none", kNone}, {"mean", kMean}, {"sum", kSum}};
  for (const auto& [known, value] : table)
    if (name == known) return value;
  raise(PyExc_ValueError, name + " is not a valid value for reduction");
}

void add_losses(py::module_& m) {
  m.def("multi_margin_loss", [](const Tensor& x, const Tensor& target, int64_t p, double margin,
                                const Tensor& weight, const std::string& how) {
    return F::multi_margin_loss(
        x, target, {.p = p, .margin = margin, .weight = weight, .reduction = reduction(how)});
  });
  m.def("multilabel_margin_loss", [](const Tensor& x, const Tensor& y, const std::string& how) {
    return F::multilabel_margin_loss(x, y, {.reduction = reduction(how)});
  });
  m.def("multilabel_soft_margin_loss", [](const Tensor& x, const Tensor& y, const Tensor& weight,
                                          const std::string& how) {
    return F::multilabel_soft_margin_loss(x, y, {.weight = weight, .reduction = reduction(how)});
  });
}

}  // namespace

void add_functional(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_functional", "What torch.nn.functional calls.");
  add_images(m);
  add_losses(m);
  m.def("fractional_max_pool2d", &fractional<2>);
  m.def("fractional_max_pool3d", &fractional<3>);
  m.def("embedding", &embedding);
  m.def("embedding_bag", &embedding_bag);
  m.def("multi_head_attention_forward", &attention);
  m.def("adaptive_log_softmax", [](const Tensor& input, const Tensor& target,
                                   const std::vector<int64_t>& cutoffs, const py::function& head,
                                   const py::function& cluster) {
    return nn::detail::adaptive_log_softmax(
        input, target, cutoffs, [&](const Tensor& x) { return head(x).cast<Tensor>(); },
        [&](size_t i, const Tensor& x) { return cluster(i, x).cast<Tensor>(); });
  });
  m.def("weight_of_norm", &nn::utils::weight_of_norm);
  m.def("first_singular_vectors", &nn::utils::first_singular_vectors);
  m.def("weight_of_spectral_norm", &nn::utils::weight_of_spectral_norm);
  m.def("bilinear", [](const Tensor& x1, const Tensor& x2, const Tensor& w, const Tensor& b) {
    const ReleaseGil released;
    return F::bilinear(x1, x2, w, b);
  });
  m.def("gumbel_softmax", [](const Tensor& logits, double tau, bool hard, int64_t dim) {
    return F::gumbel_softmax(logits, tau, hard, dim);
  });
}

}  // namespace taeda::python
