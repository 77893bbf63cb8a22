// Linear maps as functions.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/linalg/matmul.h"

namespace taeda::inline v0_2::nn {

class LinearOptions {
 public:
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  TAEDA_ARG(int64_t, in_features);
  TAEDA_ARG(int64_t, out_features);
  TAEDA_ARG(bool, bias) = true;
};

class BilinearOptions {
 public:
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  TAEDA_ARG(int64_t, in1_features);
  TAEDA_ARG(int64_t, in2_features);
  TAEDA_ARG(int64_t, out_features);
  TAEDA_ARG(bool, bias) = true;
};

class FlattenOptions {
 public:
  FlattenOptions(int64_t start_dim = 1, int64_t end_dim = -1)
      : start_dim_(start_dim), end_dim_(end_dim) {}
  TAEDA_ARG(int64_t, start_dim);
  TAEDA_ARG(int64_t, end_dim);
};

class UnflattenOptions {
 public:
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  TAEDA_ARG(int64_t, dim);
  TAEDA_ARG(std::vector<int64_t>, sizes);
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
}  // namespace taeda::nn
