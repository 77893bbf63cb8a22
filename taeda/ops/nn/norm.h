// Normalisations. Weight, bias and running statistics may be undefined; in 16-bit computations they
// may be float.
// [operations, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel (dimension 1), over all other
/// dimensions (Ioffe and Szegedy 2015, arXiv:1502.03167).
///
/// Training: with the batch's statistics (biased variance); running statistics, where given, become
/// (1 - momentum) old + momentum new, in place, with the unbiased variance. Otherwise with the
/// running statistics. Contiguous and channels-last inputs keep their layout. Throws ValueError for
/// one value per channel in training, Error for sizes that do not fit the number of channels and
/// for evaluation without running statistics.
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum = 0.1, double eps = 1e-5);

/// (x - mean) / sqrt(var + eps) * weight + bias, each sample by itself over the last dimensions,
/// whose sizes are `normalized_shape`; weight and bias have that shape (Ba et al. 2016,
/// arXiv:1607.06450). Throws Error where the last dimensions have other sizes.
/// [autocast: float32 accelerators]
Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight over the last dimensions (Zhang and Sennrich 2019,
/// arXiv:1910.07467). Without `eps` the machine epsilon of the dtype is taken.
Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = {});

/// (x - mean) / sqrt(var + eps) * weight + bias over each group of channels of each sample, [N, C,
/// *]; weight and bias [C]. Throws Error unless `num_groups` divides C (Wu and He 2018,
/// arXiv:1803.08494).
/// [autocast: float32 accelerators]
Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/// (x - mean) / sqrt(var + eps) * weight + bias over the spatial dimensions of each channel of each
/// sample, [N, C, *]; all tensors else are [C] (Ulyanov et al. 2016, arXiv:1607.08022).
/// With `use_input_stats` the running statistics, where given, take in the average over the batch;
/// without, they are used.
Tensor instance_norm(const Tensor& input, const Tensor& weight = {}, const Tensor& bias = {},
                     const Tensor& running_mean = {}, const Tensor& running_var = {},
                     bool use_input_stats = true, double momentum = 0.1, double eps = 1e-5);

/// x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta (Krizhevsky et
/// al. 2012).
Tensor local_response_norm(const Tensor& input, int64_t size, double alpha = 1e-4,
                           double beta = 0.75, double k = 1);

/// x / max(|x|_p, eps) along `dim`.
Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);

}  // namespace taeda
