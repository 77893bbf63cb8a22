// Attention as functions.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/attention.h"

namespace taeda::inline v0_2::nn::functional {

using taeda::scaled_dot_product_attention;

class MultiheadAttentionForwardFuncOptions {
 public:
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  TAEDA_ARG(int64_t, embed_dim_to_check);
  TAEDA_ARG(int64_t, num_heads);
  /// [3 E, E]: the projections of query, key and value ...
  TAEDA_ARG(Tensor, in_proj_weight);
  TAEDA_ARG(Tensor, in_proj_bias);
  /// One more key and value [1, 1, E], the same for everybody.
  TAEDA_ARG(Tensor, bias_k);
  TAEDA_ARG(Tensor, bias_v);
  /// And one more of zeros.
  TAEDA_ARG(bool, add_zero_attn);
  TAEDA_ARG(double, dropout_p);
  TAEDA_ARG(Tensor, out_proj_weight);
  TAEDA_ARG(Tensor, out_proj_bias);
  TAEDA_ARG(bool, training) = true;
  TAEDA_ARG(Tensor, key_padding_mask);
  TAEDA_ARG(bool, need_weights) = true;
  TAEDA_ARG(Tensor, attn_mask);
  /// ... or three of them, [E, size of query, key or value].
  TAEDA_ARG(bool, use_separate_proj_weight) = false;
  TAEDA_ARG(Tensor, q_proj_weight);
  TAEDA_ARG(Tensor, k_proj_weight);
  TAEDA_ARG(Tensor, v_proj_weight);
  /// [N * heads, S, E / heads], instead of projected keys and values.
  TAEDA_ARG(Tensor, static_k);
  TAEDA_ARG(Tensor, static_v);
  TAEDA_ARG(bool, average_attn_weights) = true;
};

/// What MultiheadAttention computes: query [L, N, E], key and value [S, N, *] give [L, N, E] and,
/// with `need_weights`, the attention weights [N, L, S] (averaged over the heads, or [N, heads, L,
/// S]). `key_padding_mask` [N, S] is true where a key counts for nothing. `attn_mask` [L, S] or [N
/// * heads, L, S] is true where not to look, or is added. Throws Error for shapes that do not fit.
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace taeda::nn::functional
