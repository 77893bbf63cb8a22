// Normalisation as functions, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/norm.h"

namespace taeda::inline v0_2::nn {

/// Options of the modules BatchNorm1d, BatchNorm2d and BatchNorm3d, for inputs [N, C], [N, C, L],
/// [N, C, H, W] and [N, C, D, H, W].
struct BatchNormOptions {
  /// Channels of the input, C of [N, C, ...].
  Option<int64_t> num_features;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
  /// The weight of a new batch in the running statistics, 0.1 by default; without a value they are
  /// a plain average over all batches.
  Option<std::optional<double>> momentum = 0.1;
  /// Whether each channel has a learned factor and summand, `weight` and `bias`, both [C].
  Option<bool> affine = true;
  /// Whether running statistics are kept, which evaluation uses instead of the batch's; true by
  /// default.
  Option<bool> track_running_stats = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;

/// Options of the modules InstanceNorm1d, InstanceNorm2d and InstanceNorm3d, for inputs [N, C, L],
/// [N, C, H, W] and [N, C, D, H, W], or without N.
struct InstanceNormOptions {
  /// Channels of the input, C of [N, C, ...].
  Option<int64_t> num_features;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
  /// The weight of a new batch in the running statistics; 0.1 by default.
  Option<double> momentum = 0.1;
  /// Whether each channel has a learned factor and summand, `weight` and `bias`, both [C].
  Option<bool> affine = false;
  /// Whether running statistics are kept, which evaluation uses instead of the input's; false by
  /// default.
  Option<bool> track_running_stats = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

/// Options of the module LayerNorm: inputs [*, normalized_shape...], whose shape stays; others are
/// an Error.
struct LayerNormOptions {
  /// The sizes of the last dimensions, over which each example is normalised.
  Option<std::vector<int64_t>> normalized_shape;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
  /// Whether each element has a learned factor and summand, `weight` and `bias`, both of
  /// normalized_shape; true by default.
  Option<bool> elementwise_affine = true;
};

/// Options of the module GroupNorm: inputs [N, C, ...], whose shape stays.
struct GroupNormOptions {
  /// Into how many groups the channels are divided, at least 1.
  Option<int64_t> num_groups;
  /// Channels of the input, C of [N, C, ...]; a multiple of num_groups, else ValueError.
  Option<int64_t> num_channels;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
  /// Whether each channel has a learned factor and summand, `weight` and `bias`, both [C].
  Option<bool> affine = true;
};

/// Options of the module LocalResponseNorm, x / (k + alpha mean(x^2 of neighbouring channels))^beta
/// for inputs [N, C, ...].
struct LocalResponseNormOptions {
  /// How many neighbouring channels count, at least 1.
  Option<int64_t> size;
  /// The factor of the mean of the neighbours' squares; 1e-4 by default.
  Option<double> alpha = 1e-4;
  /// The exponent of the number that elements are divided by; 0.75 by default.
  Option<double> beta = 0.75;
  /// The number that is added to the mean of squares before it is raised to `beta`; 1 by default.
  Option<double> k = 1;
};

/// Options of the module CrossMapLRN2d, which computes what LocalResponseNorm does, of inputs [N,
/// C, H, W].
struct CrossMapLRN2dOptions {
  /// How many neighbouring channels count, at least 1.
  Option<int64_t> size;
  /// The factor of the mean of the neighbours' squares; 1e-4 by default.
  Option<double> alpha = 1e-4;
  /// The exponent of the number that elements are divided by; 0.75 by default.
  Option<double> beta = 0.75;
  /// The number that is added to the mean of squares before it is raised to `beta`; 1 by default.
  Option<int64_t> k = 1;
};

namespace functional {
using LocalResponseNormFuncOptions = LocalResponseNormOptions;

/// Options of the function batch_norm, for inputs [N, C, ...], whose shape stays.
struct BatchNormFuncOptions {
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Whether the batch's statistics are used, and the running ones updated; false by default.
  Option<bool> training = false;
  /// Of the running statistics: the new batch's part. One must be given.
  Option<std::optional<double>> momentum = 0.1;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
};

/// Options of the function instance_norm, for inputs [N, C, ...], whose shape stays.
struct InstanceNormFuncOptions {
  /// The means that are updated, or used, [C]; undefined if there are none.
  Option<Tensor> running_mean = Tensor();
  /// The running variances, [C], which go with `running_mean`; undefined by default.
  Option<Tensor> running_var = Tensor();
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// Whether the input's statistics are used, the default, rather than the running ones, which then
  /// must be given.
  Option<bool> use_input_stats = true;
  /// The weight of a new batch in the running statistics; 0.1 by default.
  Option<double> momentum = 0.1;
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
};

/// Options of the function layer_norm: inputs [*, normalized_shape...], whose shape stays.
struct LayerNormFuncOptions {
  /// The sizes of the last dimensions, over which each example is normalised.
  Option<std::vector<int64_t>> normalized_shape;
  /// A factor of each element, of that shape; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each element, of that shape; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
};

/// Options of the function group_norm: inputs [N, C, ...] with C a multiple of the groups; the
/// shape stays.
struct GroupNormFuncOptions {
  /// Into how many groups the channels are divided, at least 1.
  Option<int64_t> num_groups;
  /// A factor of each channel, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// What is added to each channel, [C]; undefined for nothing.
  Option<Tensor> bias = Tensor();
  /// The number that is added to the variance, so that nothing is divided by 0; 1e-5 by default.
  Option<double> eps = 1e-5;
};

/// Options of the function normalize, x / max(|x|_p, eps) along one dimension; the shape stays.
struct NormalizeFuncOptions {
  /// The exponent p of the norm; 2 by default.
  Option<double> p = 2;
  /// The dimension along which norms are taken.
  Option<int64_t> dim = 1;
  /// The least number that elements are divided by; 1e-12 by default.
  Option<double> eps = 1e-12;
  /// A tensor that takes the result and its shape; a new one by default.
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
