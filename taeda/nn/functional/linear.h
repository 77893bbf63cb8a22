// Linear maps as functions.
#pragma once

#include "taeda/nn/options/linear.h"
#include "taeda/ops/matmul.h"

namespace taeda::nn::functional {

/// x W^T + b; see ops/matmul.h.
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  return taeda::linear(input, weight, bias);
}

/// y_k = x1^T W_k x2 + b_k: inputs [..., in1] and [..., in2], weight [out, in1, in2], bias [out] or
/// undefined.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {});

}  // namespace taeda::nn::functional
