// Attention as a function.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::nn::functional {

/// softmax(query key^T / sqrt(E) + mask) value (Vaswani et al. 2017): query [..., L, E], key [...,
/// S, E], value [..., S, V] give [..., L, V]. A bool mask tells where to look, a float mask is
/// added; both broadcast to [..., L, S]. `is_causal`: position i looks at positions up to i; then
/// no mask may be given. Throws Error otherwise.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask = {}, double dropout_p = 0,
                                    bool is_causal = false);

}  // namespace taeda::nn::functional
