// Attention by cuDNN 9, in kernels made for Hopper and Blackwell of data centres.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/kernels/attention.h"

namespace taeda::inline v0_2::gpu {

// Each does what the slot of its name says. False, with nothing done that matters, where the
// library is missing or turned off (TAEDA_CUDA_DNN=0, backends::cudnn::enabled,
// backends::cuda::enable_cudnn_sdp), or the call is none for it: Note [Attention by cuDNN].

bool cudnn_attention(const Context& context, const Tensor& out, const Tensor& log_sum,
                     const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor& mask, const AttentionSpec& spec);

bool cudnn_attention_backward(const Context& context, const Tensor& grad_query,
                              const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad,
                              const Tensor& query, const Tensor& key, const Tensor& value,
                              const Tensor& mask, const Tensor& out, const Tensor& log_sum,
                              const AttentionSpec& spec);

}  // namespace taeda::inline v0_2::gpu
