#include "taeda/nn/functional/conv.h"

namespace taeda::inline v0_2::nn::functional {

Tensor conv1d(const Tensor& x, const Tensor& weight, const Conv1dFuncOptions& o) {
  return taeda::conv1d(x, weight, o.bias, o.stride, to_conv_padding(o.padding), o.dilation,
                       o.groups);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dFuncOptions& o) {
  return taeda::conv2d(x, weight, o.bias, o.stride, to_conv_padding(o.padding), o.dilation,
                       o.groups);
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Conv3dFuncOptions& o) {
  return taeda::conv3d(x, weight, o.bias, o.stride, to_conv_padding(o.padding), o.dilation,
                       o.groups);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& o) {
  return taeda::conv_transpose1d(x, weight, o.bias, o.stride, o.padding, o.output_padding, o.groups,
                                 o.dilation);
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& o) {
  return taeda::conv_transpose2d(x, weight, o.bias, o.stride, o.padding, o.output_padding, o.groups,
                                 o.dilation);
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight,
                        const ConvTranspose3dFuncOptions& o) {
  return taeda::conv_transpose3d(x, weight, o.bias, o.stride, o.padding, o.output_padding, o.groups,
                                 o.dilation);
}

}  // namespace taeda::inline v0_2::nn::functional
