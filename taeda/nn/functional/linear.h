// Linear maps as functions.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/linalg/matmul.h"

namespace taeda::inline v0_2::nn {

/// Of module Linear.
struct LinearOptions {
  /// The size of the input's last dimension.
  Option<int64_t> in_features;
  /// The size of the result's last dimension.
  Option<int64_t> out_features;
  /// Whether a learned number is added to each feature of the result.
  Option<bool> bias = true;
};

/// Of module Bilinear.
struct BilinearOptions {
  /// The size of the first input's last dimension, at least 1.
  Option<int64_t> in1_features;
  /// The size of the second input's last dimension.
  Option<int64_t> in2_features;
  /// The size of the result's last dimension.
  Option<int64_t> out_features;
  /// Whether a learned number is added to each feature of the result.
  Option<bool> bias = true;
};

/// Of module Flatten.
struct FlattenOptions {
  /// The first of the dimensions that become one; negative from the end.
  Option<int64_t> start_dim = 1;
  /// The last of them.
  Option<int64_t> end_dim = -1;
};

/// Of module Unflatten.
struct UnflattenOptions {
  /// The dimension that is cut; negative from the end.
  Option<int64_t> dim;
  /// The sizes that it is cut into, one of which may be -1: what the others leave.
  Option<std::vector<int64_t>> unflattened_size;
};

namespace functional {

/// x W^T + b; see ops/linalg/matmul.h.
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  return taeda::linear(input, weight, bias);
}

/// y_k = x1^T W_k x2 + b_k: inputs [..., in1] and [..., in2], weight [out, in1, in2], bias [out] or
/// undefined.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = {});

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
