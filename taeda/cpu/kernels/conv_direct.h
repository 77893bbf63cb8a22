// Direct convolutions for few channels, where a matrix product would leave most of the registers
// empty: float, two dimensions, stride 1, one group.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Sizes of one convolution; images are dense [channels, height, width].
struct DirectShape {
  int64_t images, in_channels, out_channels;
  int64_t in_height, in_width, out_height, out_width;
  int64_t taps_y, taps_x, dilation_y, dilation_x;
  int64_t pad_top, pad_left;
};

/// Weights as the caller stores them: [o, c, i, j] with any strides, negative ones to flip.
struct DirectWeights {
  const float* data;
  int64_t out_channel, in_channel, y, x;
};

/// out = conv(in, weights) + bias; bias may be null.
void direct_conv(const DirectShape& shape, const float* in, const DirectWeights& weights,
                 const float* bias, float* out);

/// Gradients by the weights, dense [out_channels, in_channels, taps_y, taps_x], and by the bias
/// (may be null), from the gradient of out.
void direct_weight_grad(const DirectShape& shape, const float* in, const float* grad_out,
                        float* grad_weights, float* grad_bias);

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
