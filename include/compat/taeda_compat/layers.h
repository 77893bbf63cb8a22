// Functions of layers that Taeda has in nn::functional, with their arguments one by one.
#pragma once

#include <taeda_compat/namespaces.h>

#include <cmath>

namespace taeda_compat {

namespace layers_detail {

/// interpolate to `output_size`; where the factors give that size too, positions follow from these.
inline Tensor upsample(const Tensor& self, IntArrayRef output_size,
                       const std::vector<std::optional<double>>& scales, Interpolation mode,
                       std::optional<bool> align_corners) {
  nn::functional::InterpolateFuncOptions options;
  options.mode(mode).align_corners(align_corners);
  std::vector<double> factors;
  for (size_t d = 0; d < scales.size() && scales[d]; ++d) {
    const double size = static_cast<double>(self.size(static_cast<int64_t>(d) + 2));
    if (static_cast<int64_t>(size * *scales[d]) == output_size[d]) factors.push_back(*scales[d]);
  }
  if (!factors.empty() && factors.size() == output_size.size())
    options.scale_factor(factors);
  else
    options.size(output_size.vec());
  return nn::functional::interpolate(self, options);
}

inline Tensor upsample(const Tensor& self, OptionalIntArrayRef output_size,
                       std::optional<ArrayRef<double>> scale_factors, Interpolation mode,
                       std::optional<bool> align_corners) {
  nn::functional::InterpolateFuncOptions options;
  options.mode(mode).align_corners(align_corners);
  if (output_size.has_value()) options.size((*output_size).vec());
  if (scale_factors) options.scale_factor(scale_factors->vec());
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
                                     nn::functional::GridSampleFuncOptions()
                                         .mode(kModes[interpolation_mode])
                                         .padding_mode(kPaddings[padding_mode])
                                         .align_corners(align_corners));
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

}  // namespace layers_detail

#define TAEDA_COMPAT_UPSAMPLE(name, mode)                                                     \
  inline Tensor name(const Tensor& self, OptionalIntArrayRef output_size, bool align_corners, \
                     std::optional<ArrayRef<double>> scale_factors) {                         \
    return layers_detail::upsample(self, output_size, scale_factors, mode, align_corners);    \
  }
TAEDA_COMPAT_UPSAMPLE(upsample_linear1d, Interpolation::Linear)
TAEDA_COMPAT_UPSAMPLE(upsample_bilinear2d, kBilinear)
TAEDA_COMPAT_UPSAMPLE(upsample_bicubic2d, kBicubic)
TAEDA_COMPAT_UPSAMPLE(upsample_trilinear3d, kTrilinear)
#undef TAEDA_COMPAT_UPSAMPLE
inline Tensor upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                std::optional<double> scales = {}) {
  return layers_detail::upsample(self, output_size, {scales}, Interpolation::Linear, align_corners);
}
inline Tensor upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                  std::optional<double> scales_h = {},
                                  std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kBilinear, align_corners);
}
inline Tensor upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kBicubic, align_corners);
}
inline Tensor upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales_d = {},
                                   std::optional<double> scales_h = {},
                                   std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_d, scales_h, scales_w}, kTrilinear,
                                 align_corners);
}
inline Tensor upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales = {}) {
  return layers_detail::upsample(self, output_size, {scales}, kNearest, {});
}
inline Tensor upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_h, scales_w}, kNearest, {});
}
inline Tensor upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                 std::optional<double> scales_d = {},
                                 std::optional<double> scales_h = {},
                                 std::optional<double> scales_w = {}) {
  return layers_detail::upsample(self, output_size, {scales_d, scales_h, scales_w}, kNearest, {});
}

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
inline Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  return layers_detail::max_unpool(self, indices, output_size);
}
/// The sizes of windows follow from those of `self` and the result.
inline Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size,
                           IntArrayRef /*stride*/, IntArrayRef /*padding*/) {
  return layers_detail::max_unpool(self, indices, output_size);
}
inline Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                       const Tensor& bias = {}) {
  return nn::functional::bilinear(input1, input2, weight, bias);
}
inline Tensor im2col(const Tensor& self, IntArrayRef kernel_size, IntArrayRef dilation,
                     IntArrayRef padding, IntArrayRef stride) {
  return nn::functional::unfold(self, nn::functional::UnfoldFuncOptions(kernel_size)
                                          .dilation(dilation)
                                          .padding(padding)
                                          .stride(stride));
}
inline Tensor col2im(const Tensor& self, IntArrayRef output_size, IntArrayRef kernel_size,
                     IntArrayRef dilation, IntArrayRef padding, IntArrayRef stride) {
  return nn::functional::fold(self, nn::functional::FoldFuncOptions(output_size, kernel_size)
                                        .dilation(dilation)
                                        .padding(padding)
                                        .stride(stride));
}

// Losses -----------------------------------------------------------------------------------------

inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         Reduction reduction = Reduction::Mean, int64_t ignore_index = -100) {
  return taeda::nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor nll_loss_nd(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::Mean, int64_t ignore_index = -100) {
  return taeda::nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                                 const Tensor& weight = {}, Reduction reduction = Reduction::Mean,
                                 int64_t ignore_index = -100, double label_smoothing = 0) {
  return taeda::cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
}
inline Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p = 1,
                                const Scalar& margin = 1, const Tensor& weight = {},
                                Reduction reduction = Reduction::Mean) {
  return nn::functional::multi_margin_loss(self, target,
                                           nn::functional::MultiMarginLossFuncOptions()
                                               .p(p.toInt())
                                               .margin(margin.toDouble())
                                               .weight(weight)
                                               .reduction(reduction));
}
inline Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target,
                                     Reduction reduction = Reduction::Mean) {
  return nn::functional::multilabel_margin_loss(
      self, target, nn::functional::MultilabelMarginLossFuncOptions(reduction));
}

// Norms ------------------------------------------------------------------------------------------

inline Tensor frobenius_norm(const Tensor& self) { return taeda::linalg::vector_norm(self); }
inline Tensor frobenius_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return taeda::linalg::vector_norm(self, 2, dim, keepdim);
}
inline Tensor nuclear_norm(const Tensor& self, bool keepdim = false) {
  return taeda::linalg::matrix_norm(self, "nuc", {-2, -1}, keepdim);
}
inline Tensor nuclear_norm(const Tensor& self, IntArrayRef dim, bool keepdim = false) {
  return taeda::linalg::matrix_norm(self, "nuc", dim, keepdim);
}

}  // namespace taeda_compat
