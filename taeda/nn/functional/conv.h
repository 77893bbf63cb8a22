// Convolutions as functions.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/conv.h"

namespace taeda::inline v0_2::nn {

/// Of modules Conv1d, Conv2d, Conv3d. A list of D sizes may be given as one number for all.
template <size_t D>
struct ConvOptions {
  /// Channels of the input, C of [N, C, ...]; a multiple of `groups`, else ValueError.
  Option<int64_t> in_channels;
  /// Channels of the result, C of [N, C, ...]; a multiple of `groups`, else ValueError.
  Option<int64_t> out_channels;
  /// The kernel's sizes, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements from one place of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> stride = 1;
  /// Elements that stand beyond each border; kValid for none, kSame for as many as keep the sizes,
  /// which needs a stride of 1.
  Option<KernelPadding<D>> padding = 0;
  /// Elements of the input from one of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> dilation = 1;
  /// Into how many parts the channels are divided, at least 1; each part of the result has its own.
  Option<int64_t> groups = 1;
  /// Whether a learned vector, [out_channels], is added to the channels of the result; true by
  /// default.
  Option<bool> bias = true;
  /// What stands beyond the borders: kZeros, the default, kReflect, kReplicate or kCircular.
  Option<PaddingMode> padding_mode = kZeros;
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// Of modules ConvTranspose1d, ConvTranspose2d, ConvTranspose3d. A list of D sizes may be given as
/// one number for all.
template <size_t D>
struct ConvTransposeOptions {
  /// Channels of the input, C of [N, C, ...]; a multiple of `groups`, else ValueError.
  Option<int64_t> in_channels;
  /// Channels of the result, C of [N, C, ...]; a multiple of `groups`, else ValueError.
  Option<int64_t> out_channels;
  /// The kernel's sizes, in elements.
  Option<ExpandingArray<D>> kernel_size;
  /// Elements of the result from one place of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> stride = 1;
  /// Elements that are taken off each border of the result.
  Option<ExpandingArray<D>> padding = 0;
  /// Elements that are added at the end of each dimension of the result; less than the stride or
  /// the dilation.
  Option<ExpandingArray<D>> output_padding = 0;
  /// Into how many parts the channels are divided, at least 1; each part of the result has its own.
  Option<int64_t> groups = 1;
  /// Whether a learned vector, [out_channels], is added to the channels of the result; true by
  /// default.
  Option<bool> bias = true;
  /// Elements of the result from one of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> dilation = 1;
  /// Nothing but kZeros: forward throws ValueError for others.
  Option<PaddingMode> padding_mode = kZeros;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

/// Options of the functions conv1d, conv2d and conv3d: input [N, C_in, ...] with D sizes behind the
/// channels, weight [C_out, C_in / groups, ...].
template <size_t D>
struct ConvFuncOptions {
  /// What is added to each channel of the result, [out_channels]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Elements from one place of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> stride = 1;
  /// Elements that stand beyond each border, 0 by default; kValid for none, kSame for as many as
  /// keep the sizes, which needs a stride of 1.
  Option<KernelPadding<D>> padding = 0;
  /// Elements of the input from one of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> dilation = 1;
  /// Into how many parts the channels are divided, at least 1.
  Option<int64_t> groups = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// Options of the functions conv_transpose1d, conv_transpose2d and conv_transpose3d: input [N,
/// C_in, ...] with D sizes behind the channels, weight [C_in, C_out / groups, ...].
template <size_t D>
struct ConvTransposeFuncOptions {
  /// What is added to each channel of the result, [out_channels]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Elements of the result from one place of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> stride = 1;
  /// Elements that are taken off each border of the result.
  Option<ExpandingArray<D>> padding = 0;
  /// Elements that are added at the end of each dimension of the result.
  Option<ExpandingArray<D>> output_padding = 0;
  /// Into how many parts the channels are divided, at least 1.
  Option<int64_t> groups = 1;
  /// Elements of the result from one of the kernel to the next, at least 1.
  Option<ExpandingArray<D>> dilation = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

/// Padding as the operations conv1d to conv3d take it: "same", "valid" or D numbers of elements.
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
}  // namespace taeda::inline v0_2::nn
