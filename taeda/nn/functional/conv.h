// Convolutions as functions.
#pragma once

#include "taeda/nn/options/conv.h"
#include "taeda/ops/conv.h"

namespace taeda::nn::functional {

/// kSame and kValid as the convolution functions take them.
template <size_t D> taeda::ConvPadding to_conv_padding(const KernelPadding<D>& p) {
  if (p.automatic()) return *p.automatic() == kSame ? "same" : "valid";
  return IntArrayRef(p.amount());
}

using taeda::conv1d, taeda::conv2d, taeda::conv3d;
using taeda::conv_transpose1d, taeda::conv_transpose2d, taeda::conv_transpose3d;

inline Tensor conv1d(const Tensor& x, const Tensor& weight, const Conv1dFuncOptions& o) {
  return taeda::conv1d(x, weight, o.bias(), o.stride(), to_conv_padding(o.padding()), o.dilation(), o.groups());
}
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dFuncOptions& o) {
  return taeda::conv2d(x, weight, o.bias(), o.stride(), to_conv_padding(o.padding()), o.dilation(), o.groups());
}
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const Conv3dFuncOptions& o) {
  return taeda::conv3d(x, weight, o.bias(), o.stride(), to_conv_padding(o.padding()), o.dilation(), o.groups());
}
inline Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const ConvTranspose1dFuncOptions& o) {
  return taeda::conv_transpose1d(x, weight, o.bias(), o.stride(), o.padding(), o.output_padding(), o.groups(),
                                 o.dilation());
}
inline Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const ConvTranspose2dFuncOptions& o) {
  return taeda::conv_transpose2d(x, weight, o.bias(), o.stride(), o.padding(), o.output_padding(), o.groups(),
                                 o.dilation());
}
inline Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const ConvTranspose3dFuncOptions& o) {
  return taeda::conv_transpose3d(x, weight, o.bias(), o.stride(), o.padding(), o.output_padding(), o.groups(),
                                 o.dilation());
}

}  // namespace taeda::nn::functional
