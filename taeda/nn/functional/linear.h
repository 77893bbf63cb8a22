// Linear maps as functions.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/linalg/matmul.h"

namespace taeda::inline v0_2::nn {

/// Options of the module Linear, x W^T + b: inputs [*, in_features] give [*, out_features].
struct LinearOptions {
  /// The size of the input's last dimension.
  Option<int64_t> in_features;
  /// The size of the result's last dimension.
  Option<int64_t> out_features;
  /// Whether a learned vector, [out_features], is added to the result; true by default.
  Option<bool> bias = true;
};

/// Options of the module Bilinear: inputs [*, in1_features] and [*, in2_features] give [*,
/// out_features].
struct BilinearOptions {
  /// The size of the first input's last dimension, at least 1.
  Option<int64_t> in1_features;
  /// The size of the second input's last dimension.
  Option<int64_t> in2_features;
  /// The size of the result's last dimension.
  Option<int64_t> out_features;
  /// Whether a learned vector, [out_features], is added to the result; true by default.
  Option<bool> bias = true;
};

/// Options of the module Flatten, which makes one dimension of several; by default all but the
/// first, the batch.
struct FlattenOptions {
  /// The first of the dimensions that become one; negative from the end.
  Option<int64_t> start_dim = 1;
  /// The last of the dimensions that become one, negative from the end; -1 by default. Before
  /// `start_dim` it is an Error.
  Option<int64_t> end_dim = -1;
};

/// Options of the module Unflatten, which cuts one dimension into several, whose sizes multiply to
/// its own.
struct UnflattenOptions {
  /// The dimension that is cut; negative from the end.
  Option<int64_t> dim;
  /// The sizes that it is cut into, one of which may be -1: what the others leave.
  Option<std::vector<int64_t>> unflattened_size;
};

namespace functional {

/// x W^T + b: input [*, in], weight [out, in], bias [out] or undefined, result [*, out]. Throws
/// Error for sizes that do not fit.
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  return taeda::linear(input, weight, bias);
}

/// y_k = x1^T W_k x2 + b_k: inputs [..., in1] and [..., in2], weight [out, in1, in2], bias [out] or
/// undefined.
Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias = {});

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
