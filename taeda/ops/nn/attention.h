// Scaled dot product attention.
// [operations]
#pragma once

#include <optional>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// softmax(scale query key^T + mask) value (Vaswani et al. 2017): query [..., H, L, E], key [...,
/// H, S, E], value [..., H, S, V] give [..., H, L, V]; H and the dimensions before it may be
/// missing.
///
/// A bool mask tells where to look, a floating one is added; both broadcast to [..., H, L, S].
/// `is_causal`: position i looks at positions up to i, counted from the start of both sequences;
/// then no mask may be given. A row that looks nowhere gives zeros (PyTorch since 2.5). Dropout
/// zeroes weights with probability `dropout_p`, whether or not anything is being trained, and
/// decides as `dropout` of the weights would. `scale` is 1 / sqrt(E) unless given. With
/// `enable_gqa` (Ainslie et al. 2023) the heads of key and value divide those of query; neighbours
/// share one.
///
/// The weights are never stored as a whole, neither here nor for the gradient (Dao,
/// "FlashAttention-2", 2023), unless batches broadcast, E or V is above 256 (128 for 16-bit floats
/// on accelerators), the mask wants a gradient, or this gradient is itself being recorded. Throws
/// Error for operands that do not fit.
/// [autocast: lower]
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0,
                                    bool is_causal = false, std::optional<double> scale = {},
                                    bool enable_gqa = false);

}  // namespace taeda
