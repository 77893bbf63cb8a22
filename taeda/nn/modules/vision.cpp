#include "taeda/nn/modules/vision.h"

#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn {

namespace {

void show_windows(Settings& out, const auto& o) {
  out.given("kernel_size", o.kernel_size).given("dilation", o.dilation);
  out.given("padding", o.padding).given("stride", o.stride);
}

}  // namespace

void UpsampleImpl::settings(Settings& out) const {
  out.of(typeid(UpsampleImpl)).present("scale_factor", options.scale_factor());
  if (!options.scale_factor) out.present("size", options.size());
  out("mode", options.mode);
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  return functional::interpolate(input, {.size = options.size,
                                         .scale_factor = options.scale_factor,
                                         .mode = options.mode,
                                         .align_corners = options.align_corners});
}

void PixelShuffleImpl::settings(Settings& out) const {
  out.of(typeid(PixelShuffleImpl))("upscale_factor", options.upscale_factor);
}

void PixelUnshuffleImpl::settings(Settings& out) const {
  out.of(typeid(PixelUnshuffleImpl))("downscale_factor", options.downscale_factor);
}

void UnfoldImpl::settings(Settings& out) const {
  show_windows(out.of(typeid(UnfoldImpl)), options);
}

void FoldImpl::settings(Settings& out) const {
  show_windows(out.of(typeid(FoldImpl)).given("output_size", options.output_size), options);
}

}  // namespace taeda::inline v0_2::nn
