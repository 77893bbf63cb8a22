#include "functional.h"

#include "binding.h"
#include "bindings.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/modules/adaptive_rule.h"
#include "taeda/nn/weight_rules.h"
#include "taeda/taeda.h"

namespace taeda::python {

namespace {

namespace F = taeda::nn::functional;
using Reals = ArrayRef<double>;

/// The value of a name in a table; `what` is said of names that are not in it.
template <class T, size_t N>
T named(const std::pair<const char*, T> (&table)[N], std::string_view name, const char* what) {
  for (const auto& [known, value] : table)
    if (name == known) return value;
  raise(PyExc_NotImplementedError, what + std::string(name));
}

Tensor pad(const Tensor& input, IntArrayRef sizes, std::string_view mode, double value) {
  static constexpr std::pair<const char*, PaddingMode> table[] = {{"constant", kConstant},
                                                                  {"reflect", kReflect},
                                                                  {"replicate", kReplicate},
                                                                  {"circular", kCircular}};
  return F::pad(input, sizes, named(table, mode, "Unrecognised padding mode "), value);
}

nn::InterpolationMode interpolation(std::string_view name) {
  if (name == "linear") return kLinear;
  static constexpr std::pair<const char*, Interpolation> table[] = {
      {"nearest", kNearest},   {"nearest-exact", kNearestExact},
      {"bilinear", kBilinear}, {"trilinear", kTrilinear},
      {"bicubic", kBicubic},   {"area", kArea}};
  return named(table, name, "Input Error: Only 3D, 4D and 5D input Tensors supported, got mode ");
}

Tensor interpolate(const Tensor& input, OptionalIntArrayRef size, std::optional<Reals> scale_factor,
                   std::string_view mode, std::optional<bool> align_corners,
                   std::optional<bool> recompute_scale_factor, bool antialias) {
  F::InterpolateFuncOptions options{.mode = interpolation(mode),
                                    .align_corners = align_corners,
                                    .recompute_scale_factor = recompute_scale_factor,
                                    .antialias = antialias};
  if (size.has_value()) options.size((*size).vec());
  if (scale_factor) options.scale_factor(scale_factor->vec());
  return F::interpolate(input, options);
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding, std::optional<bool> align_corners) {
  static constexpr std::pair<const char*, PaddingMode> table[] = {
      {"zeros", kZeros}, {"border", kBorder}, {"reflection", kReflection}};
  return F::grid_sample(
      input, grid,
      {.mode = Interpolation(interpolation(mode)),
       .padding_mode = named(table, padding, "grid_sample: unknown padding_mode "),
       .align_corners = align_corners});
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const Tensor& offsets,
                     std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq,
                     std::string_view mode, bool sparse, const Tensor& per_sample_weights,
                     bool include_last_offset, std::optional<int64_t> padding_idx) {
  const nn::EmbeddingBagMode how = mode == "sum"   ? nn::EmbeddingBagMode(kSum)
                                   : mode == "max" ? nn::EmbeddingBagMode(kMax)
                                                   : nn::EmbeddingBagMode(kMean);
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
  return F::embedding(input, weight,
                      {.padding_idx = padding_idx,
                       .max_norm = max_norm,
                       .norm_type = norm_type,
                       .scale_grad_by_freq = scale_grad_by_freq,
                       .sparse = sparse});
}

std::tuple<Tensor, Tensor> attention(
    const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim,
    int64_t num_heads, const Tensor& in_weight, const Tensor& in_bias, const Tensor& bias_k,
    const Tensor& bias_v, bool add_zero_attn, double dropout_p, const Tensor& out_weight,
    const Tensor& out_bias, bool training, const Tensor& key_padding_mask, bool need_weights,
    const Tensor& attn_mask, bool separate, const Tensor& q_weight, const Tensor& k_weight,
    const Tensor& v_weight, const Tensor& static_k, const Tensor& static_v, bool average) {
  auto [output, weights] = F::multi_head_attention_forward(query, key, value,
                                                           {.embed_dim_to_check = embed_dim,
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
                                                            .average_attn_weights = average});
  return {output, need_weights ? weights : Tensor()};
}

Tensor unfold(const Tensor& input, IntArrayRef kernel, IntArrayRef dilation, IntArrayRef padding,
              IntArrayRef stride) {
  return F::unfold(
      input, {.kernel_size = kernel, .dilation = dilation, .padding = padding, .stride = stride});
}

Tensor fold(const Tensor& input, IntArrayRef size, IntArrayRef kernel, IntArrayRef dilation,
            IntArrayRef padding, IntArrayRef stride) {
  return F::fold(input, {.output_size = size,
                         .kernel_size = kernel,
                         .dilation = dilation,
                         .padding = padding,
                         .stride = stride});
}

Tensor max_unpool(const Tensor& input, const Tensor& indices, IntArrayRef kernel,
                  IntArrayRef stride, IntArrayRef padding, OptionalIntArrayRef size) {
  return F::detail::max_unpool(input, indices, kernel, stride, padding,
                               size.has_value() ? std::optional((*size).vec()) : std::nullopt);
}

template <size_t D>
std::tuple<Tensor, Tensor> fractional(const Tensor& input, IntArrayRef kernel,
                                      OptionalIntArrayRef size, std::optional<Reals> ratio,
                                      const Tensor& samples) {
  nn::FractionalMaxPoolOptions<D> options{nn::ExpandingArray<D>(kernel)};
  if (size.has_value()) options.output_size(nn::ExpandingArray<D>(*size));
  if (ratio) options.output_ratio(nn::ExpandingArray<D, double>(*ratio));
  options._random_samples(samples);
  if constexpr (D == 2)
    return F::fractional_max_pool2d_with_indices(input, options);
  else
    return F::fractional_max_pool3d_with_indices(input, options);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p, double margin,
                         const Tensor& weight, ReductionArg reduction) {
  return F::multi_margin_loss(
      input, target,
      {.p = p, .margin = margin, .weight = weight, .reduction = Reduction(reduction)});
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, ReductionArg reduction) {
  return F::multilabel_margin_loss(input, target, {.reduction = Reduction(reduction)});
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   ReductionArg reduction) {
  return F::multilabel_soft_margin_loss(input, target,
                                        {.weight = weight, .reduction = Reduction(reduction)});
}

std::tuple<Tensor, Tensor> first_singular_vectors(const Tensor& weight, int64_t dim, double eps) {
  return nn::utils::first_singular_vectors(weight, dim, eps);
}

Tensor weight_of_spectral_norm(const Tensor& weight, const Tensor& u, const Tensor& v,
                               int64_t iterations, int64_t dim, double eps) {
  return nn::utils::weight_of_spectral_norm(weight, u, v, iterations, dim, eps);
}

// Kinds of parameters by the types of what takes them: plain, and where None may be given.
template <class T>
constexpr std::pair<Kind, Kind> kKindsOf;
template <>
constexpr std::pair kKindsOf<const Tensor&>{Kind::Tensor, Kind::MaybeTensor};
template <>
constexpr std::pair kKindsOf<IntArrayRef>{Kind::Ints, Kind::MaybeInts};
template <>
constexpr std::pair kKindsOf<OptionalIntArrayRef>{Kind::MaybeInts, Kind::MaybeInts};
template <>
constexpr std::pair kKindsOf<std::optional<Reals>>{Kind::MaybeReals, Kind::MaybeReals};
template <>
constexpr std::pair kKindsOf<std::string_view>{Kind::Text, Kind::MaybeText};
template <>
constexpr std::pair kKindsOf<int64_t>{Kind::Int, Kind::MaybeInt};
template <>
constexpr std::pair kKindsOf<std::optional<int64_t>>{Kind::MaybeInt, Kind::MaybeInt};
template <>
constexpr std::pair kKindsOf<double>{Kind::Real, Kind::MaybeReal};
template <>
constexpr std::pair kKindsOf<std::optional<double>>{Kind::MaybeReal, Kind::MaybeReal};
template <>
constexpr std::pair kKindsOf<bool>{Kind::Bool, Kind::MaybeBool};
template <>
constexpr std::pair kKindsOf<std::optional<bool>>{Kind::MaybeBool, Kind::MaybeBool};
template <>
constexpr std::pair kKindsOf<ReductionArg>{Kind::Reduction, Kind::Reduction};

/// Which parameter gives an argument of this type; a reduction has a default everywhere.
template <class T, int I>
struct PlaceOf : At<I> {};
template <int I>
struct PlaceOf<ReductionArg, I> : At<I, taeda::Reduction::Mean> {};

/// A parameter: "name", or "name=None" of one that may be left out.
template <Word Text>
struct Said {
  static constexpr auto parts = [] {
    auto characters = std::to_array(Text.characters);
    const auto equals = std::find(characters.begin(), characters.end(), '=');
    const bool optional = equals != characters.end();
    if (optional) *equals = 0;
    return std::pair(characters, optional);
  }();
  static constexpr Parameter of(std::pair<Kind, Kind> kinds) {
    const auto& [name, optional] = parts;
    if (!optional) return {name.data(), kinds.first};
    return {name.data(), kinds.second, "None"};
  }
};

/// How a function is called: its parameters, and how they become its arguments.
template <auto F, class Taken, class Places, Word... Names>
struct Row;
template <auto F, class R, class... A, size_t... I, Word... Names>
struct Row<F, R (*)(A...), std::index_sequence<I...>, Names...> {
  static_assert(sizeof...(A) == sizeof...(Names) && sizeof...(A) <= kMostArguments);
  static constexpr Parameter parameters[] = {Said<Names>::of(kKindsOf<A>)...};
  static constexpr Signature signature{
      parameters, sizeof...(A), sizeof...(A), -1, false, bound<F, Plain, PlaceOf<A, int(I)>...>};
};

/// The row of a function, whose parameters have these names.
template <auto F, Word... Names>
constexpr Entry row(const char* name, const char* documentation = nullptr) {
  using Of = Row<F, decltype(F), std::make_index_sequence<sizeof...(Names)>, Names...>;
  return {"functional", name, false, {name, &Of::signature, 1}, documentation};
}

constexpr const char* kBilinear =
    R"(input1' A input2 + bias, with a matrix A of `weight` for each output feature.

Shapes: input1 [*, in1], input2 [*, in2], weight [out, in1, in2], bias [out] or None; result
[*, out].

>>> F.bilinear(torch.ones(5, 3), torch.ones(5, 4), torch.ones(2, 3, 4)).shape
torch.Size([5, 2])
)";
constexpr const char* kPixelShuffle =
    R"(Groups of r r channels as squares of r x r pixels (Shi et al. 2016, arXiv:1609.05158).

Shapes: input [*, C r r, H, W], result [*, C, r H, r W] with r = upscale_factor; a number of
channels that r r does not divide is a RuntimeError.

>>> F.pixel_shuffle(torch.zeros(1, 8, 3, 3), 2).shape
torch.Size([1, 2, 6, 6])
)";
constexpr const char* kPixelUnshuffle =
    R"(Squares of r x r pixels as groups of r r channels, the inverse of pixel_shuffle.

Shapes: input [*, C, r H, r W], result [*, C r r, H, W] with r = downscale_factor; sizes that r
does not divide are a RuntimeError.

>>> F.pixel_unshuffle(torch.zeros(1, 2, 6, 6), 2).shape
torch.Size([1, 8, 3, 3])
)";

constexpr auto unpool_row =
    row<&max_unpool, "input", "indices", "kernel_size", "stride", "padding", "output_size">;
constexpr auto lp_pool_row =
    row<&F::detail::lp_pool, "input", "norm_type", "kernel_size", "stride", "ceil_mode">;

constexpr Entry kEntries[] = {
    row<&pad, "input", "pad", "mode", "value">("pad"),
    row<&interpolate, "input", "size", "scale_factor", "mode", "align_corners",
        "recompute_scale_factor", "antialias">("interpolate"),
    row<&grid_sample, "input", "grid", "mode", "padding_mode", "align_corners">("grid_sample"),
    row<&F::affine_grid, "theta", "size", "align_corners">("affine_grid"),
    row<fn<Tensor(const Tensor&, int64_t)>(F::pixel_shuffle), "input", "upscale_factor">(
        "pixel_shuffle", kPixelShuffle),
    row<fn<Tensor(const Tensor&, int64_t)>(F::pixel_unshuffle), "input", "downscale_factor">(
        "pixel_unshuffle", kPixelUnshuffle),
    row<&unfold, "input", "kernel_size", "dilation", "padding", "stride">("unfold"),
    row<&fold, "input", "output_size", "kernel_size", "dilation", "padding", "stride">("fold"),
    unpool_row("max_unpool1d", nullptr),
    unpool_row("max_unpool2d", nullptr),
    unpool_row("max_unpool3d", nullptr),
    lp_pool_row("lp_pool1d", nullptr),
    lp_pool_row("lp_pool2d", nullptr),
    row<&fractional<2>, "input", "kernel_size", "output_size", "output_ratio",
        "_random_samples=None">("fractional_max_pool2d"),
    row<&fractional<3>, "input", "kernel_size", "output_size", "output_ratio",
        "_random_samples=None">("fractional_max_pool3d"),
    row<&multi_margin_loss, "input", "target", "p", "margin", "weight=None", "reduction">(
        "multi_margin_loss"),
    row<&multilabel_margin_loss, "input", "target", "reduction">("multilabel_margin_loss"),
    row<&multilabel_soft_margin_loss, "input", "target", "weight=None", "reduction">(
        "multilabel_soft_margin_loss"),
    row<&embedding, "input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq",
        "sparse">("embedding"),
    row<&embedding_bag, "input", "weight", "offsets=None", "max_norm", "norm_type",
        "scale_grad_by_freq", "mode", "sparse", "per_sample_weights=None", "include_last_offset",
        "padding_idx">("embedding_bag"),
    row<&attention, "query", "key", "value", "embed_dim_to_check", "num_heads",
        "in_proj_weight=None", "in_proj_bias=None", "bias_k=None", "bias_v=None", "add_zero_attn",
        "dropout_p", "out_proj_weight", "out_proj_bias=None", "training", "key_padding_mask=None",
        "need_weights", "attn_mask=None", "use_separate_proj_weight", "q_proj_weight=None",
        "k_proj_weight=None", "v_proj_weight=None", "static_k=None", "static_v=None",
        "average_attn_weights">("multi_head_attention_forward"),
    row<&nn::utils::weight_of_norm, "v", "g", "dim">("weight_of_norm"),
    row<&first_singular_vectors, "weight", "dim", "eps">("first_singular_vectors"),
    row<&weight_of_spectral_norm, "weight", "u", "v", "iterations", "dim", "eps">(
        "weight_of_spectral_norm"),
    row<&F::bilinear, "input1", "input2", "weight", "bias=None">("bilinear", kBilinear),
    row<fn<Tensor(const Tensor&, double, bool, int64_t)>(F::gumbel_softmax), "logits", "tau",
        "hard", "dim">("gumbel_softmax"),
};

}  // namespace

std::vector<Method> functional_methods() { return methods<kEntries>(); }

void add_functional(PyObject* module) {
  const Ref made(checked(PyObject_GetAttrString(module, "_functional")));
  as_module(made.get())
      .def("adaptive_log_softmax",
           [](const Tensor& input, const Tensor& target, const std::vector<int64_t>& cutoffs,
              const py::function& head, const py::function& cluster) {
             return nn::detail::adaptive_log_softmax(
                 input, target, cutoffs, [&](const Tensor& x) { return head(x).cast<Tensor>(); },
                 [&](size_t i, const Tensor& x) { return cluster(i, x).cast<Tensor>(); });
           });
}

}  // namespace taeda::python
