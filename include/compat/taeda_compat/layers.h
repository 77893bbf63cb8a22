// Functions of layers that Taeda has in nn::functional, with their arguments one by one. The build
// makes their forms with `out`.
// [operations]
#pragma once

#include <taeda_compat/namespaces.h>

#include <cmath>

namespace taeda_compat {

namespace layers_detail {

/// interpolate to `output_size`; where the factors give that size too, positions follow from these.
inline Tensor upsample(const Tensor& self, IntArrayRef output_size,
                       const std::vector<std::optional<double>>& scales, Interpolation mode,
                       std::optional<bool> align_corners) {
  nn::functional::InterpolateFuncOptions options{.mode = mode, .align_corners = align_corners};
  std::vector<double> factors;
  for (size_t d = 0; d < scales.size() && scales[d]; ++d) {
    const double size = static_cast<double>(self.size(static_cast<int64_t>(d) + 2));
    if (static_cast<int64_t>(size * *scales[d]) == output_size[d]) factors.push_back(*scales[d]);
  }
  if (!factors.empty() && factors.size() == output_size.size())
    options.scale_factor = factors;
  else
    options.size = output_size.vec();
  return nn::functional::interpolate(self, options);
}

inline Tensor upsample(const Tensor& self, OptionalIntArrayRef output_size,
                       std::optional<ArrayRef<double>> scale_factors, Interpolation mode,
                       std::optional<bool> align_corners) {
  nn::functional::InterpolateFuncOptions options{.mode = mode, .align_corners = align_corners};
  if (output_size.has_value()) options.size = (*output_size).vec();
  if (scale_factors) options.scale_factor = scale_factors->vec();
  return nn::functional::interpolate(self, options);
}

inline Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                           int64_t padding_mode, bool align_corners) {
  constexpr Interpolation kModes[] = {kBilinear, kNearest, kBicubic};
  constexpr PaddingMode kPaddings[] = {kZeros, kBorder, kReflection};
  TAEDA_CHECK(
      interpolation_mode >= 0 && interpolation_mode < 3 && padding_mode >= 0 && padding_mode < 3,
      "grid_sampler(): interpolation and padding mode must be 0, 1 or 2, but got ",
      interpolation_mode, " and ", padding_mode);
  return nn::functional::grid_sample(input, grid,
                                     {.mode = kModes[interpolation_mode],
                                      .padding_mode = kPaddings[padding_mode],
                                      .align_corners = align_corners});
}

/// max_unpool to any size: windows of stride 1 that reach it.
inline Tensor max_unpool(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  const auto dims = static_cast<int64_t>(output_size.size());
  std::vector<int64_t> kernel;
  for (int64_t d = 0; d < dims; ++d)
    kernel.push_back(output_size[static_cast<size_t>(d)] - self.size(d - dims) + 1);
  const std::vector<int64_t> ones(kernel.size(), 1), zeros(kernel.size(), 0);
  return nn::functional::detail::max_unpool(self, indices, kernel, ones, zeros, {});
}

/// The rows that the largest elements of each bag came from, [B, D].
inline Tensor largest_rows(const Tensor& weight, const Tensor& indices, const Tensor& bag,
                           const Tensor& output, const Tensor& counted) {
  const Tensor found = weight.detach().index_select(0, indices).eq(output.index_select(0, bag));
  const Tensor places = where(found.logical_and(counted.unsqueeze(1)), indices.unsqueeze(1), -1);
  const Tensor start = zeros(output.sizes(), indices.options());
  return start.scatter_reduce(0, bag.unsqueeze(1).expand(places.sizes()), places, "amax");
}

inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
    OptionalDim padding_idx) {
  TAEDA_CHECK(mode >= 0 && mode <= 2, "embedding_bag: mode must be 0, 1 or 2, but got ", mode);
  using Mode = nn::EmbeddingBagMode;
  const Mode how = mode == 0 ? Mode(kSum) : mode == 1 ? Mode(kMean) : Mode(kMax);
  const Tensor output = nn::functional::embedding_bag(indices, weight,
                                                      {.offsets = offsets,
                                                       .scale_grad_by_freq = scale_grad_by_freq,
                                                       .mode = how,
                                                       .sparse = sparse,
                                                       .per_sample_weights = per_sample_weights,
                                                       .include_last_offset = include_last_offset,
                                                       .padding_idx = padding_idx});
  const Tensor position = arange(indices.numel(), offsets.options().dtype(kLong));
  const Tensor bag = bucketize(position, offsets.to(kLong), false, true).sub(1);
  const Tensor counted = indices.ne(padding_idx.value_or(-1));
  const Tensor size = zeros({output.size(0)}, bag.options()).index_add(0, bag, counted.to(kLong));
  return {output, bag, size,
          mode == 2 ? largest_rows(weight, indices, bag, output.detach(), counted) : size};
}

}  // namespace layers_detail

/// interpolate to `output_size`, or by factors where there is none. Factors that are given beside a
/// size say where positions lie.
inline Tensor upsample_linear1d(const Tensor& self, OptionalIntArrayRef output_size,
                                bool align_corners, std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, Interpolation::Linear,
                                 align_corners);
}
inline Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                std::optional<double> scales = {}) {
  return layers_detail::upsample(self, output_size, {scales}, Interpolation::Linear, align_corners);
}
inline Tensor upsample_bilinear2d(const Tensor& self, OptionalIntArrayRef output_size,
                                  bool align_corners,
                                  std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kBilinear, align_corners);
}
inline Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                  std::optional<double> scales_h = {},
                                  std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kBilinear, align_corners);
}
inline Tensor upsample_bicubic2d(const Tensor& self, OptionalIntArrayRef output_size,
                                 bool align_corners,
                                 std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kBicubic, align_corners);
}
inline Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kBicubic, align_corners);
}
inline Tensor upsample_trilinear3d(const Tensor& self, OptionalIntArrayRef output_size,
                                   bool align_corners,
                                   std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kTrilinear, align_corners);
}
inline Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales_d = {},
                                   std::optional<double> scales_h = {},
                                   std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_d, scales_h, scales_w}, kTrilinear,
                                 align_corners);
}
inline Tensor upsample_nearest1d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kNearest, {});
}
inline Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales = {}) {
  return layers_detail::upsample(self, output_size, {scales}, kNearest, {});
}
inline Tensor upsample_nearest2d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kNearest, {});
}
inline Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kNearest, {});
}
inline Tensor upsample_nearest3d(const Tensor& self, OptionalIntArrayRef output_size,
                                 std::optional<ArrayRef<double>> scale_factors) {
  return layers_detail::upsample(self, output_size, scale_factors, kNearest, {});
}
inline Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_d = {},
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_d, scales_h, scales_w}, kNearest, {});
}

/// nn::functional::affine_grid.
inline Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  return nn::functional::affine_grid(theta, size, align_corners);
}
/// Modes are numbers: bilinear, nearest, bicubic; zeros, border, reflection.
inline Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                           int64_t padding_mode, bool align_corners) {
  return layers_detail::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}
inline Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool align_corners) {
  return layers_detail::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}
inline Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                              int64_t padding_mode, bool align_corners) {
  return layers_detail::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners);
}
/// max_unpool to any size.
inline Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return layers_detail::max_unpool(self, indices, output_size);
}
/// The sizes of windows follow from those of `self` and the result.
inline Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                           IntArrayRef /*stride*/, IntArrayRef /*padding*/) {
  return layers_detail::max_unpool(self, indices, output_size);
}
/// nn::functional::bilinear.
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const Tensor& bias = {}) {
  return nn::functional::bilinear(input1, input2, weight, bias);
}
/// nn::functional::unfold.
inline Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                     IntArrayRef padding, IntArrayRef stride) {
  return nn::functional::unfold(
      self,
      {.kernel_size = kernel_size, .dilation = dilation, .padding = padding, .stride = stride});
}
/// nn::functional::fold.
inline Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                     IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  return nn::functional::fold(self, {.output_size = output_size,
                                     .kernel_size = kernel_size,
                                     .dilation = dilation,
                                     .padding = padding,
                                     .stride = stride});
}

/// A convolution, or a transposed one, in as many dimensions as the weight says.
inline Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool transposed, IntArrayRef output_padding, int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  TAEDA_CHECK(dims >= 1 && dims <= 3,
              "convolution: Expected a weight of 3 to 5 dimensions, but got ", weight.sizes());
  TAEDA_CHECK(input.dim() == weight.dim(), "Expected ", weight.dim(), "-dimensional input for ",
              weight.dim(), "-dimensional weight ", weight.sizes(), ", but got ", input.dim(),
              "-dimensional input of size ", input.sizes(), " instead");
  if (transposed) {
    const auto op = dims == 1   ? &taeda::conv_transpose1d
                    : dims == 2 ? &taeda::conv_transpose2d
                                : &taeda::conv_transpose3d;
    return op(input, weight, bias, stride, padding, output_padding, groups, dilation);
  }
  const auto op = dims == 1 ? &taeda::conv1d : dims == 2 ? &taeda::conv2d : &taeda::conv3d;
  return op(input, weight, bias, stride, padding, dilation, groups);
}

/// nn::functional::embedding_bag of bags that begin at `offsets`; `mode` is 0 (sum), 1 (mean) or 2
/// (max). Also which bag each index is in, how many count in each bag, and the rows that the
/// largest came from (the sizes again, unless `mode` is 2).
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
    OptionalDim padding_idx) {
  return layers_detail::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                                      per_sample_weights, include_last_offset, padding_idx);
}
inline std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets,
    bool scale_grad_by_freq = false, int64_t mode = 0, bool sparse = false,
    const Tensor& per_sample_weights = {}, bool include_last_offset = false) {
  return embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse,
                       per_sample_weights, include_last_offset, {});
}

using taeda::batch_norm, taeda::group_norm, taeda::instance_norm, taeda::layer_norm;
/// Normalisation with libtorch's last argument, whether cuDNN may be used; devices choose their
/// kernels themselves.
inline Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         const Tensor& running_mean, const Tensor& running_var, bool training,
                         double momentum, double eps, bool /*cudnn_enabled*/) {
  return taeda::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
inline Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                            const Tensor& running_mean, const Tensor& running_var,
                            bool use_input_stats, double momentum, double eps,
                            bool /*cudnn_enabled*/) {
  return taeda::instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
                              momentum, eps);
}
inline Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                         const Tensor& bias, double eps, bool /*cudnn_enable*/) {
  return taeda::layer_norm(input, normalized_shape, weight, bias, eps);
}
inline Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight,
                         const Tensor& bias, double eps, bool /*cudnn_enabled*/) {
  return taeda::group_norm(input, num_groups, weight, bias, eps);
}

}  // namespace taeda_compat
