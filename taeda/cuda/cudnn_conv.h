// Convolutions by cuDNN 9, a library that is loaded when a convolution is first asked for.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/kernels/conv.h"

namespace taeda::inline v0_2::gpu {

// Each does what the slot of its name says, except for the bias and its gradient. False, with
// nothing done, where the library is missing or does not take the operands: only those are tried
// that are all contiguous or all channels-last. Algorithms are those that give equal bits in every
// run, but for backends::cudnn::benchmark; float is TF32 where backends::cudnn::allow_tf32 says so.
// TAEDA_CUDA_DNN=0 in the environment turns the library off.

bool cudnn_conv(const Context& context, const Tensor& out, const Tensor& in, const Tensor& weight,
                const ConvGeometry& geometry);
bool cudnn_conv_input_grad(const Context& context, const Tensor& grad_in, const Tensor& grad_out,
                           const Tensor& weight, const ConvGeometry& geometry);
bool cudnn_conv_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                            const Tensor& grad_out, const ConvGeometry& geometry);

}  // namespace taeda::inline v0_2::gpu
