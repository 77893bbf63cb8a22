// Slots of attention: softmax(scale query key^T + mask) value in one pass over blocks of the
// scores, which are never stored as a whole (Dao, "FlashAttention-2", 2023).
//
// Shapes: query (B, H, L, E), key (B, G, S, E), value (B, G, S, V), out (B, H, L, V), log_sum (B,
// H, L) in the computing dtype, contiguous. G divides H: head h looks at head h / (H / G) of key
// and value. The last dimension of each is dense, other strides are free. Nothing is empty.
//
// `mask` is undefined or (B, H, L, S) of any strides: bool, where to look; or what is added to the
// scores, in the dtype of query or the computing dtype. A row that looks nowhere gives zeros.
//
// Dropout decides on score (b, h, i, j) as dropout_kept_slot does by the bits of `kept`, where that
// is defined, else as dropout_slot does by `state`.
#pragma once

#include "taeda/base/macros.h"
#include "taeda/device/generator.h"
#include "taeda/kernels/philox.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

struct AttentionSpec {
  double scale = 1;
  bool causal = false;  ///< position i looks at positions up to i
  double dropout = 0;   ///< below 1
};

/// `log_sum` receives the logarithm of each row's sum of exponentials, +infinity for a row that
/// looks nowhere, so that exp(score - log_sum) is the probability in any case.
inline Slot<void(const Tensor& out, const Tensor& log_sum, const Tensor& query, const Tensor& key,
                 const Tensor& value, const Tensor& mask, AttentionSpec spec,
                 const PhiloxState& state, const Tensor& kept)>
    attention_slot{"scaled_dot_product_attention"};

/// Gradients of query, key and value from that of `out`; same mask, spec and state as forward.
inline Slot<void(const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value,
                 const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                 const Tensor& mask, const Tensor& out, const Tensor& log_sum, AttentionSpec spec,
                 const PhiloxState& state, const Tensor& kept)>
    attention_backward_slot{"scaled_dot_product_attention_backward"};

/// What kernels of every device know of a call beside query, key and value themselves.
struct AttentionCall {
  int64_t batches, heads, groups, queries, keys;
  const char* mask = nullptr;
  ScalarType mask_dtype = kBool;
  int mask_item = 1;
  int64_t mask_strides[4] = {};
  AttentionSpec spec;
  PhiloxState state;
  uint32_t kept_below;

  AttentionCall(const Tensor& query, const Tensor& key, const Tensor& m, AttentionSpec s,
                const PhiloxState& philox)
      : batches(query.size(0)),
        heads(query.size(1)),
        groups(key.size(1)),
        queries(query.size(2)),
        keys(key.size(2)),
        spec(s),
        state(philox),
        kept_below(philox::kept_below(1 - s.dropout)) {
    if (!m.defined()) return;
    mask = static_cast<const char*>(m.data_ptr());
    mask_dtype = m.dtype();
    mask_item = static_cast<int>(m.element_size());
    for (size_t d = 0; d < 4; ++d) mask_strides[d] = m.strides()[d];
  }

  /// Heads of query that share one of key.
  TAEDA_HD int64_t share() const { return heads / groups; }
  TAEDA_HD int64_t group_of(int64_t head) const { return head / share(); }
  /// Keys that some of the queries before `row_end` looks at.
  TAEDA_HD int64_t keys_seen(int64_t row_end) const {
    return spec.causal && row_end < keys ? row_end : keys;
  }
  /// Where the mask has its word for a score.
  TAEDA_HD const char* mask_at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return mask +
           (b * mask_strides[0] + h * mask_strides[1] + i * mask_strides[2] + j * mask_strides[3]) *
               mask_item;
  }
};

template <class F>
void for_each_attention_slot(F&& f) {
  visit_slots<&attention_slot, &attention_backward_slot>(f);
}

}  // namespace taeda::inline v0_2
