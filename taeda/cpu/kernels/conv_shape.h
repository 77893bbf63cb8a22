// What a convolution is to its kernels: sizes and steps, whatever its number of dimensions.
#pragma once

#include "taeda/kernels/conv.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// A convolution with three spatial dimensions; those that a tensor lacks are 1, at the front.
struct Shape {
  int64_t images, in_channels, out_channels, groups;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, taps[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  Shape(const Tensor& input, const Tensor& output, const Tensor& weight, const ConvGeometry& g)
      : images(input.size(0)),
        in_channels(input.size(1)),
        out_channels(output.size(1)),
        groups(g.groups) {
    for (int d = 0; d < g.ndim; ++d) {
      const int at = 3 - g.ndim + d;
      in[at] = input.size(d + 2), out[at] = output.size(d + 2), taps[at] = weight.size(d + 2);
      stride[at] = g.stride[d], padding[at] = g.padding[d], dilation[at] = g.dilation[d];
    }
  }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
  int64_t rows() const { return group_in() * tap_count(); }
  /// The unfolded input is the input.
  bool is_pointwise() const {
    for (int d = 0; d < 3; ++d)
      if (taps[d] != 1 || stride[d] != 1 || padding[d] != 0 || in[d] != out[d]) return false;
    return true;
  }
};

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
