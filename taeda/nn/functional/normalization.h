// Normalisation, dropout and embedding as functions.
#pragma once

#include "taeda/nn/options/normalization.h"

namespace taeda::nn::functional {

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

}  // namespace taeda::nn::functional
