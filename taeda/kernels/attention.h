// Slots of attention: softmax(scale query key^T + mask) value in one pass over blocks of the
// scores, which are never stored as a whole (Dao, "FlashAttention-2", 2023).
//
// Shapes: query (B, H, L, E), key (B, G, S, E), value (B, G, S, V), out (B, H, L, V), log_sum (B,
// H, L) in the computing dtype, contiguous. G divides H: head h looks at head h / (H / G) of key
// and value. The last dimension of each is dense, other strides are free. Nothing is empty.
//
// `mask` is undefined or (B, H, L, S) of any strides: bool, where to look; or what is added to the
// scores, in the dtype of query or the computing dtype. A row that looks nowhere gives zeros.
#pragma once

#include "taeda/device/generator.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda {

struct AttentionSpec {
  double scale = 1;
  bool causal = false;  ///< position i looks at positions up to i
  double dropout = 0;   ///< below 1; the decision on (b, h, i, j) is that of dropout_slot
};

/// `log_sum` receives the logarithm of each row's sum of exponentials, +infinity for a row that
/// looks nowhere, so that exp(score - log_sum) is the probability in any case.
inline Slot<void(const Tensor& out, const Tensor& log_sum, const Tensor& query, const Tensor& key,
                 const Tensor& value, const Tensor& mask, AttentionSpec spec,
                 const PhiloxState& state)>
    attention_slot{"scaled_dot_product_attention"};

/// Gradients of query, key and value from that of `out`; same mask, spec and state as forward.
inline Slot<void(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                 const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                 const Tensor& mask, const Tensor& out, const Tensor& log_sum, AttentionSpec spec,
                 const PhiloxState& state)>
    attention_backward_slot{"scaled_dot_product_attention_backward"};

template <class F>
void for_each_attention_slot(F&& f) {
  f.template operator()<&attention_slot>();
  f.template operator()<&attention_backward_slot>();
}

}  // namespace taeda
