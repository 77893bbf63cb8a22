// Rearranging images and changing their size. Formulas and errors: functional/vision.h and
// functional/upsampling.h.
#pragma once

#include "taeda/nn/functional/upsampling.h"
#include "taeda/nn/functional/vision.h"
#include "taeda/nn/holder.h"
#include "taeda/nn/modules/options_module.h"

namespace taeda::inline v0_2::nn {

/// Images of another size.
class UpsampleImpl : public detail::OptionsModule<UpsampleOptions, UpsampleImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input);
};
TAEDA_MODULE(Upsample);

/// Channels as finer pixels: [*, C r r, H, W] gives [*, C, r H, r W] (Shi et al. 2016,
/// arXiv:1609.05158). Throws Error unless r r divides the channels.
class PixelShuffleImpl : public detail::OptionsModule<PixelShuffleOptions, PixelShuffleImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::pixel_shuffle(input, options); }
};
TAEDA_MODULE(PixelShuffle);

/// Pixels as more channels: [*, C, r H, r W] gives [*, C r r, H, W]. Throws Error unless r divides
/// height and width.
class PixelUnshuffleImpl : public detail::OptionsModule<PixelUnshuffleOptions, PixelUnshuffleImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::pixel_unshuffle(input, options); }
};
TAEDA_MODULE(PixelUnshuffle);

/// The windows of images [N, C, H, W] as columns, [N, C kh kw, L]. Throws Error for sizes that give
/// no window.
class UnfoldImpl : public detail::OptionsModule<UnfoldOptions, UnfoldImpl> {
 public:
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::unfold(input, options); }
};
TAEDA_MODULE(Unfold);

/// Columns [N, C kh kw, L] summed to images [N, C, H, W]. Throws Error where sizes do not fit.
class FoldImpl : public detail::OptionsModule<FoldOptions, FoldImpl> {
 public:
  FoldImpl(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
      : FoldImpl(FoldOptions{output_size, kernel_size}) {}
  using OptionsModule::OptionsModule;
  void settings(Settings& out) const override;
  Tensor forward(const Tensor& input) { return functional::fold(input, options); }
};
TAEDA_MODULE(Fold);

}  // namespace taeda::inline v0_2::nn
