// Convolutions as functions.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/conv.h"

namespace taeda::inline v0_2::nn {

/// Of modules Conv1d, Conv2d, Conv3d.
template <size_t D>
class ConvOptions {
 public:
  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TAEDA_ARG(int64_t, in_channels);
  TAEDA_ARG(int64_t, out_channels);
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(KernelPadding<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(bool, bias) = true;
  /// kZeros, kReflect, kReplicate or kCircular
  TAEDA_ARG(PaddingMode, padding_mode) = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// Of modules ConvTranspose1d, ConvTranspose2d, ConvTranspose3d.
template <size_t D>
class ConvTransposeOptions {
 public:
  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}
  TAEDA_ARG(int64_t, in_channels);
  TAEDA_ARG(int64_t, out_channels);
  TAEDA_ARG(ExpandingArray<D>, kernel_size);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, output_padding) = 0;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(bool, bias) = true;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  /// Nothing but kZeros.
  TAEDA_ARG(PaddingMode, padding_mode) = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

template <size_t D>
class ConvFuncOptions {
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(KernelPadding<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
  TAEDA_ARG(int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

template <size_t D>
class ConvTransposeFuncOptions {
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(ExpandingArray<D>, stride) = 1;
  TAEDA_ARG(ExpandingArray<D>, padding) = 0;
  TAEDA_ARG(ExpandingArray<D>, output_padding) = 0;
  TAEDA_ARG(int64_t, groups) = 1;
  TAEDA_ARG(ExpandingArray<D>, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

/// kSame and kValid as the convolution functions take them.
template <size_t D>
taeda::ConvPadding to_conv_padding(const KernelPadding<D>& p) {
  if (p.automatic()) return *p.automatic() == kSame ? "same" : "valid";
  return IntArrayRef(p.amount());
}

using taeda::conv1d, taeda::conv2d, taeda::conv3d;
using taeda::conv_transpose1d, taeda::conv_transpose2d, taeda::conv_transpose3d;

Tensor conv1d(const Tensor& x, const Tensor& weight, const Conv1dFuncOptions& o);
Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dFuncOptions& o);
Tensor conv3d(const Tensor& x, const Tensor& weight, const Conv3dFuncOptions& o);
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const ConvTranspose1dFuncOptions& o);
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const ConvTranspose2dFuncOptions& o);
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const ConvTranspose3dFuncOptions& o);

}  // namespace functional
}  // namespace taeda::nn
