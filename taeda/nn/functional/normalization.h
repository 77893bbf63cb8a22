// Normalisation as functions, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/norm.h"

namespace taeda::inline v0_2::nn {

/// Of modules BatchNorm1d, BatchNorm2d, BatchNorm3d.
struct BatchNormOptions {
  /// Channels of the input, C of [N, C, ...].
  Option<int64_t> num_features;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
  /// Weight of a new batch in the running statistics; without a value they are a plain average.
  Option<std::optional<double>> momentum = 0.1;
  /// Whether each channel has a learned weight and bias.
  Option<bool> affine = true;
  /// Whether statistics are kept, which eval() uses instead of the batch's.
  Option<bool> track_running_stats = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

/// Of modules InstanceNorm1d, InstanceNorm2d, InstanceNorm3d.
struct InstanceNormOptions {
  /// Channels of the input, C of [N, C, ...].
  Option<int64_t> num_features;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
  /// Weight of a new batch in the running statistics.
  Option<double> momentum = 0.1;
  /// Whether each channel has a learned weight and bias.
  Option<bool> affine = false;
  /// Whether statistics are kept, which eval() uses instead of the input's.
  Option<bool> track_running_stats = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

/// Of module LayerNorm.
struct LayerNormOptions {
  /// The sizes of the last dimensions, over which each example is normalised.
  Option<std::vector<int64_t>> normalized_shape;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
  /// Whether each element has a learned weight and bias.
  Option<bool> elementwise_affine = true;
};

/// Of module GroupNorm.
struct GroupNormOptions {
  /// Into how many groups the channels are divided, at least 1.
  Option<int64_t> num_groups;
  /// Channels of the input, a multiple of the groups.
  Option<int64_t> num_channels;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
  /// Whether each channel has a learned weight and bias.
  Option<bool> affine = true;
};

/// Of module LocalResponseNorm: x / (k + alpha mean(x^2 of the neighbours))^beta.
struct LocalResponseNormOptions {
  /// How many neighbouring channels count, at least 1.
  Option<int64_t> size;
  /// The factor of their mean.
  Option<double> alpha = 1e-4;
  /// The exponent.
  Option<double> beta = 0.75;
  /// What is added to the mean.
  Option<double> k = 1;
};

/// Of module CrossMapLRN2d, as LocalResponseNormOptions.
struct CrossMapLRN2dOptions {
  /// How many neighbouring channels count, at least 1.
  Option<int64_t> size;
  /// The factor of their mean.
  Option<double> alpha = 1e-4;
  /// The exponent.
  Option<double> beta = 0.75;
  /// What is added to the mean.
  Option<int64_t> k = 1;
};

namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;

/// Of batch_norm.
struct BatchNormFuncOptions {
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Whether the batch's statistics are used, and the running ones updated.
  Option<bool> training = false;
  /// Of the running statistics: the new batch's part. One must be given.
  Option<std::optional<double>> momentum = 0.1;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
};

/// Of instance_norm.
struct InstanceNormFuncOptions {
  /// The means that are updated, or used, [C]; undefined if there are none.
  Option<Tensor> running_mean = Tensor();
  /// The variances beside them, [C].
  Option<Tensor> running_var = Tensor();
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Whether the input's statistics are used rather than the running ones.
  Option<bool> use_input_stats = true;
  /// Weight of a new batch in the running statistics.
  Option<double> momentum = 0.1;
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
};

/// Of layer_norm.
struct LayerNormFuncOptions {
  /// The sizes of the last dimensions, over which each example is normalised.
  Option<std::vector<int64_t>> normalized_shape;
  /// A factor of each element, of that shape; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each element, of that shape; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
};

/// Of group_norm.
struct GroupNormFuncOptions {
  /// Into how many groups the channels are divided, at least 1.
  Option<int64_t> num_groups;
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// What is added to the variance, so that nothing is divided by 0.
  Option<double> eps = 1e-5;
};

/// Of normalize: x / max(|x|_p, eps).
struct NormalizeFuncOptions {
  /// The exponent of the norm.
  Option<double> p = 2;
  /// The dimension along which norms are taken.
  Option<int64_t> dim = 1;
  /// The smallest number that is divided by.
  Option<double> eps = 1e-12;
  /// Where the result goes, too.
  Option<std::optional<Tensor>> out = std::nullopt;
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
  return taeda::layer_norm(x, o.normalized_shape, o.weight, o.bias, o.eps);
}
Tensor group_norm(const Tensor& x, const GroupNormFuncOptions& o);
Tensor normalize(const Tensor& x, const NormalizeFuncOptions& o);

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& o);

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
