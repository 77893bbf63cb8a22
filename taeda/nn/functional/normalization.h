// Normalisation, dropout and embedding as functions.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::nn {

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

class LayerNormOptions {
 public:
  LayerNormOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
  LayerNormOptions(int64_t size) : normalized_shape_{size} {}
  TAEDA_ARG(std::vector<int64_t>, normalized_shape);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, elementwise_affine) = true;
};

class GroupNormOptions {
 public:
  GroupNormOptions(int64_t num_groups, int64_t num_channels) : num_groups_(num_groups), num_channels_(num_channels) {}
  TAEDA_ARG(int64_t, num_groups);
  TAEDA_ARG(int64_t, num_channels);
  TAEDA_ARG(double, eps) = 1e-5;
  TAEDA_ARG(bool, affine) = true;
};

class DropoutOptions {
 public:
  DropoutOptions(double p = 0.5) : p_(p) {}
  TAEDA_ARG(double, p);
  TAEDA_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;

class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  /// The row that starts as zero and gets no gradient; negative counts from the end.
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
  /// Given instead of random initial values.
  TAEDA_ARG(Tensor, _weight);
};

class EmbeddingFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

namespace functional {

class BatchNormFuncOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Tensor, bias);
  TAEDA_ARG(bool, training) = false;
  TAEDA_ARG(double, momentum) = 0.1;
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
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape) : normalized_shape_(std::move(normalized_shape)) {}
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
};

class DropoutFuncOptions {
  TAEDA_ARG(double, p) = 0.5;
  TAEDA_ARG(bool, training) = true;
  TAEDA_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using AlphaDropoutFuncOptions = DropoutFuncOptions;

class EmbeddingFuncOptions {
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

/// Normalises each channel (dimension 1) over all others: with the batch's statistics and an update of
/// the running ones while `training`, with the running ones otherwise. Throws ValueError for one value
/// per channel in training.
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5);
inline Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                         const BatchNormFuncOptions& o = {}) {
  return batch_norm(input, running_mean, running_var, o.weight(), o.bias(), o.training(), o.momentum(), o.eps());
}

/// Normalises each channel of each sample over the spatial dimensions.
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});

/// Normalises over the last dimensions, whose sizes are `normalized_shape`.
Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias = {},
                  double eps = 1e-5);
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& o) {
  return layer_norm(input, o.normalized_shape(), o.weight(), o.bias(), o.eps());
}

/// Normalises each group of channels of each sample.
Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias = {},
                  double eps = 1e-5);
inline Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& o) {
  return group_norm(input, o.num_groups(), o.weight(), o.bias(), o.eps());
}

/// x / max(|x|_p, eps) along `dim`.
Tensor normalize(const Tensor& input, double p, int64_t dim = 1, double eps = 1e-12);
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& o = {}) {
  return normalize(input, o.p(), o.dim(), o.eps());
}

/// Zeroes elements with probability p and scales the others by 1 / (1 - p). Throws ValueError unless p
/// is in [0, 1].
Tensor dropout(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout(const Tensor& input, const DropoutFuncOptions& o = {}) {
  return dropout(input, o.p(), o.training(), o.inplace());
}
/// Zeroes whole channels (dimension 1).
Tensor dropout2d(const Tensor& input, double p, bool training = true, bool inplace = false);
inline Tensor dropout2d(const Tensor& input, const Dropout2dFuncOptions& o = {}) {
  return dropout2d(input, o.p(), o.training(), o.inplace());
}
/// Keeps mean and variance of SELU's outputs (Klambauer et al. 2017).
Tensor alpha_dropout(const Tensor& input, double p, bool training = false, bool inplace = false);
inline Tensor alpha_dropout(const Tensor& input, const AlphaDropoutFuncOptions& o = {}) {
  return alpha_dropout(input, o.p(), o.training(), o.inplace());
}

/// Rows of `weight` at the integers in `input`; the row `padding_idx` gets no gradient.
Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::nn
