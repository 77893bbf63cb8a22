// Slots of the normalisations. Statistics, weights and biases are of the type that the data's dtype
// is computed in (float for 16-bit data), contiguous; weight and bias may be undefined.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Each channel (dimension 1) over all other dimensions. Data is contiguous or channels-last;
/// outputs have the input's strides. Training: `mean` and `rstd` = 1 / sqrt(var + eps) are outputs,
/// and the running statistics, where defined, become (1 - momentum) old + momentum new (unbiased
/// variance). Otherwise they are inputs.
inline Slot<void(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                 const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                 const Tensor& running_var, bool training, double momentum, double eps)>
    batch_norm_slot{"batch_norm"};
/// `grad_weight` and `grad_bias` are always written; `grad_in` may be undefined.
inline Slot<void(const Tensor& grad_in, const Tensor& grad_weight, const Tensor& grad_bias,
                 const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& mean,
                 const Tensor& rstd, bool training)>
    batch_norm_backward_slot{"batch_norm_backward"};

/// Rows of contiguous data, each normalised by itself. A row holds `channels` runs of `spatial`
/// elements; run k of row r has the weight (r % groups) * channels + k. layer_norm is one group
/// with spatial = 1. `center`: whether the mean is subtracted (rms_norm does not).
struct RowNorm {
  int64_t rows, groups, channels, spatial;
  bool center;
};
inline Slot<void(const Tensor& out, const Tensor& mean, const Tensor& rstd, const Tensor& in,
                 const Tensor& weight, const Tensor& bias, RowNorm shape, double eps)>
    row_norm_slot{"row_norm"};
/// `grad_weight` and `grad_bias` (groups * channels elements) are always written.
inline Slot<void(const Tensor& grad_in, const Tensor& grad_weight, const Tensor& grad_bias,
                 const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& mean,
                 const Tensor& rstd, RowNorm shape)>
    row_norm_backward_slot{"row_norm_backward"};

template <class F>
void for_each_norm_slot(F&& f) {
  visit_slots<&batch_norm_slot, &batch_norm_backward_slot, &row_norm_slot, &row_norm_backward_slot>(
      f);
}

}  // namespace taeda
