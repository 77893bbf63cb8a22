// Normalisation as functions, and its options.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/norm.h"

namespace taeda::inline v0_2::nn {

class BatchNormOptions {
 public:
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAEDA_ARG(int64_t, num_features);
  TAEDA_ARG(double, eps) = 1e-5;
  /// Weight of a new batch in the running statistics; without a value they are a plain average.
  TAEDA_ARG(std::optional<double>, momentum) = 0.1;
  TAEDA_ARG(bool, affine) = true;
  TAEDA_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

class InstanceNormOptions {
 public:
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAEDA_ARG(int64_t, num_features);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(double, momentum) = 0.1;
  TAEDA_ARG(bool, affine) = false;
  TAEDA_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  LayerNormOptions(int64_t size) : normalized_shape_{size} {}
  TAEDA_ARG(std::vector<int64_t>, normalized_shape);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, elementwise_affine) = true;
};

class GroupNormOptions {
 public:
  GroupNormOptions(int64_t num_groups, int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  TAEDA_ARG(int64_t, num_groups);
  TAEDA_ARG(int64_t, num_channels);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, affine) = true;
};

class LocalResponseNormOptions {
 public:
  LocalResponseNormOptions(int64_t size) : size_(size) {}
  TAEDA_ARG(int64_t, size);
  TAEDA_ARG(double, alpha) = 1e-4;
  TAEDA_ARG(double, beta) = 0.75;
  TAEDA_ARG(double, k) = 1;
};

class CrossMapLRN2dOptions {
 public:
  CrossMapLRN2dOptions(int64_t size) : size_(size) {}
  TAEDA_ARG(int64_t, size);
  TAEDA_ARG(double, alpha) = 1e-4;
  TAEDA_ARG(double, beta) = 0.75;
  TAEDA_ARG(int64_t, k) = 1;
};

namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;

class BatchNormFuncOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(bool, training) = false;
  /// Of the running statistics: the new batch's part. One must be given.
  TAEDA_ARG(std::optional<double>, momentum) = 0.1;
  TAEDA_ARG(double, eps) = 1e-5;
};

class InstanceNormFuncOptions {
  TAEDA_ARG(Tensor, running_mean);
  TAEDA_ARG(Tensor, running_var);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(bool, use_input_stats) = true;
  TAEDA_ARG(double, momentum) = 0.1;
  TAEDA_ARG(double, eps) = 1e-5;
};

class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  TAEDA_ARG(std::vector<int64_t>, normalized_shape);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(double, eps) = 1e-5;
};

class GroupNormFuncOptions {
 public:
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  TAEDA_ARG(int64_t, num_groups);
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(double, eps) = 1e-5;
};

class NormalizeFuncOptions {
  TAEDA_ARG(double, p) = 2;
  TAEDA_ARG(int64_t, dim) = 1;
  TAEDA_ARG(double, eps) = 1e-12;
  /// Where the result goes, too.
  TAEDA_ARG(std::optional<Tensor>, out);
};

/// See ops/nn/norm.h for the formulas and errors. The order of arguments is that of Python's
/// functions.
inline Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                         const Tensor& weight, const Tensor& bias = {}, bool training = false,
                         double momentum = 0.1, double eps = 1e-5) {
  return taeda::batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps);
}
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& o = {});

Tensor instance_norm(const Tensor& x, const InstanceNormFuncOptions& o = {});

using taeda::layer_norm, taeda::group_norm, taeda::normalize, taeda::local_response_norm;

template <class = void>
Tensor layer_norm(const Tensor& x, const LayerNormFuncOptions& o) {
  return taeda::layer_norm(x, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}
Tensor group_norm(const Tensor& x, const GroupNormFuncOptions& o);
Tensor normalize(const Tensor& x, const NormalizeFuncOptions& o);

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o);

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
