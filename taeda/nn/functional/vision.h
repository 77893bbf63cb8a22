// Rearranging and sampling images.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

class PixelShuffleOptions {
 public:
  PixelShuffleOptions(int64_t upscale_factor) : upscale_factor_(upscale_factor) {}
  TAEDA_ARG(int64_t, upscale_factor);
};

class PixelUnshuffleOptions {
 public:
  PixelUnshuffleOptions(int64_t downscale_factor) : downscale_factor_(downscale_factor) {}
  TAEDA_ARG(int64_t, downscale_factor);
};

class UnfoldOptions {
 public:
  UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<2>, kernel_size);
  TAEDA_ARG(ExpandingArray<2>, dilation) = 1;
  TAEDA_ARG(ExpandingArray<2>, padding) = 0;
  TAEDA_ARG(ExpandingArray<2>, stride) = 1;
};

class FoldOptions {
 public:
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : output_size_(output_size), kernel_size_(kernel_size) {}
  TAEDA_ARG(ExpandingArray<2>, output_size);
  TAEDA_ARG(ExpandingArray<2>, kernel_size);
  TAEDA_ARG(ExpandingArray<2>, dilation) = 1;
  TAEDA_ARG(ExpandingArray<2>, padding) = 0;
  TAEDA_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {
using PixelShuffleFuncOptions = PixelShuffleOptions;
using PixelUnshuffleFuncOptions = PixelUnshuffleOptions;
using UnfoldFuncOptions = UnfoldOptions;
using FoldFuncOptions = FoldOptions;

/// [*, C r r, H, W] as [*, C, r H, r W]: every r x r pixels come from as many channels (Shi et al.
/// 2016, arXiv:1609.05158). Throws Error unless r is positive and r r divides the channels.
Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor);
Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& o);
/// The inverse, [*, C, r H, r W] as [*, C r r, H, W].
Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor);
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& o);

/// The L windows that a convolution over `input` [N, C, H, W] or [C, H, W] would see, as columns:
/// [N, C kh kw, L]. Throws Error for sizes that give no window.
Tensor unfold(const Tensor& input, const UnfoldFuncOptions& options);
/// The sum of such columns, [N, C kh kw, L] or [C kh kw, L], at their places in images [N, C, H, W]
/// of `output_size`. Throws Error where sizes do not fit.
Tensor fold(const Tensor& input, const FoldFuncOptions& options);

class GridSampleFuncOptions {
 public:
  using mode_t = Interpolation;
  using padding_mode_t = PaddingMode;
  /// kBilinear (for volumes, too), kNearest or, for images, kBicubic
  TAEDA_ARG(mode_t, mode) = kBilinear;
  /// kZeros, kBorder or kReflection
  TAEDA_ARG(padding_mode_t, padding_mode) = kZeros;
  TAEDA_ARG(std::optional<bool>, align_corners);
};

/// Where pixels of images of `size` [N, C, H, W] (or [N, C, D, H, W]) come from under the affine
/// maps theta [N, 2, 3] ([N, 3, 4]): [N, H, W, 2] with x before y, from -1 to 1 between the centres
/// of the corners' pixels if `align_corners`, else between their outer corners (Jaderberg et al.
/// 2015, arXiv:1506.02025). Throws ValueError for shapes that do not fit.
Tensor affine_grid(const Tensor& theta, IntArrayRef size, bool align_corners = false);

/// The values of `input` [N, C, H, W] (or [N, C, D, H, W]) at the places of `grid` [N, h, w, 2]
/// ([N, d, h, w, 3]), which are as `affine_grid` gives them: [N, C, h, w]. Gradients flow to both.
/// Throws Error for shapes that do not fit and for other modes.
Tensor grid_sample(const Tensor& input, const Tensor& grid,
                   const GridSampleFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::nn
