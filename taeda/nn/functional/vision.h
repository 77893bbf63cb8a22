// Rearranging and sampling images.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// Options of the module PixelShuffle, which makes [*, C, r H, r W] of [*, C r r, H, W].
struct PixelShuffleOptions {
  /// By how much height and width grow, at least 1; its square divides the channels.
  Option<int64_t> upscale_factor;
};

/// Options of the module PixelUnshuffle, which makes [*, C r r, H, W] of [*, C, r H, r W].
struct PixelUnshuffleOptions {
  /// By how much height and width, multiples of it, shrink; at least 1.
  Option<int64_t> downscale_factor;
};

/// Of module Unfold. Two sizes may be given as one number for both.
struct UnfoldOptions {
  /// The sizes of a window, in elements.
  Option<ExpandingArray<2>> kernel_size;
  /// Elements of the image from one of a window to the next, at least 1.
  Option<ExpandingArray<2>> dilation = 1;
  /// How many zeros stand beyond each border; none by default.
  Option<ExpandingArray<2>> padding = 0;
  /// Elements from one window to the next, at least 1.
  Option<ExpandingArray<2>> stride = 1;
};

/// Of module Fold. Two sizes may be given as one number for both.
struct FoldOptions {
  /// The sizes of the result: height and width in pixels.
  Option<ExpandingArray<2>> output_size;
  /// The sizes of a window, in elements.
  Option<ExpandingArray<2>> kernel_size;
  /// Elements of the image from one of a window to the next, at least 1.
  Option<ExpandingArray<2>> dilation = 1;
  /// How many zeros stand beyond each border; none by default.
  Option<ExpandingArray<2>> padding = 0;
  /// Elements from one window to the next, at least 1.
  Option<ExpandingArray<2>> stride = 1;
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

/// Options of the function grid_sample, for images [N, C, H, W] and volumes [N, C, D, H, W].
struct GridSampleFuncOptions {
  using mode_t = Interpolation;
  using padding_mode_t = PaddingMode;
  /// How values between pixels come about: kBilinear, the default, for volumes, too, kNearest or,
  /// for images alone, kBicubic.
  Option<Interpolation> mode = kBilinear;
  /// What stands beyond the borders: kZeros, the default, kBorder or kReflection.
  Option<PaddingMode> padding_mode = kZeros;
  /// Whether -1 and 1 are the centres of the corners' pixels rather than their outer corners; by
  /// default false, which a warning says.
  Option<std::optional<bool>> align_corners = std::nullopt;
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
}  // namespace taeda::inline v0_2::nn
