// Options of normalisation, dropout and embedding.
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

}  // namespace functional
}  // namespace taeda::nn
