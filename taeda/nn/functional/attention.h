// Attention as functions.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/attention.h"

namespace taeda::inline v0_2::nn::functional {

using taeda::scaled_dot_product_attention;

/// Options of the function multi_head_attention_forward. E is the size of queries, L and S are the
/// lengths of queries and keys, N is the batch size.
struct MultiheadAttentionForwardFuncOptions {
  /// E, the size of queries and of the result; a multiple of the heads.
  Option<int64_t> embed_dim_to_check;
  /// How many attentions there are side by side, at least 1.
  Option<int64_t> num_heads;
  /// The projections of query, key and value, one above the other, [3 E, E]; not looked at if there
  /// are three separate ones.
  Option<Tensor> in_proj_weight;
  /// What they add, [3 E]; undefined for nothing.
  Option<Tensor> in_proj_bias;
  /// One more key for everybody, [1, 1, E]; undefined for none.
  Option<Tensor> bias_k;
  /// Its value, [1, 1, E].
  Option<Tensor> bias_v;
  /// Whether keys and values get one more element of zeros at their end, which makes S one larger.
  Option<bool> add_zero_attn;
  /// The probability that a weight of the attention is dropped while training; it must be from 0 to
  /// 1.
  Option<double> dropout_p;
  /// The projection of the result, [E, E].
  Option<Tensor> out_proj_weight;
  /// What it adds, [E]; undefined for nothing.
  Option<Tensor> out_proj_bias;
  /// Whether weights of the attention are dropped, with probability `dropout_p`; true by default.
  Option<bool> training = true;
  /// [N, S]: true where a key counts for nothing; undefined for none.
  Option<Tensor> key_padding_mask = Tensor();
  /// Whether the attention's weights are returned, too, true by default; else the second result is
  /// undefined.
  Option<bool> need_weights = true;
  /// [L, S] or [N * heads, L, S]: true where not to look, or what is added; undefined for nothing.
  Option<Tensor> attn_mask = Tensor();
  /// Whether q_proj_weight, k_proj_weight and v_proj_weight are used instead of in_proj_weight,
  /// which keys and values of other sizes than E need; false by default.
  Option<bool> use_separate_proj_weight = false;
  /// ... or that of the query, [E, E],
  Option<Tensor> q_proj_weight = Tensor();
  /// that of the key, [E, its size],
  Option<Tensor> k_proj_weight = Tensor();
  /// and that of the value, [E, its size].
  Option<Tensor> v_proj_weight = Tensor();
  /// [N * heads, S, E / heads], instead of projected keys; undefined for these.
  Option<Tensor> static_k = Tensor();
  /// Values [N * heads, S, E / heads], instead of projected ones; undefined for these.
  Option<Tensor> static_v = Tensor();
  /// Whether the returned weights are the mean over the heads, [N, L, S], the default, or those of
  /// each head, [N, heads, L, S].
  Option<bool> average_attn_weights = true;
};

/// What MultiheadAttention computes: query [L, N, E], key and value [S, N, *] give [L, N, E] and,
/// with `need_weights`, the attention weights [N, L, S] (averaged over the heads, or [N, heads, L,
/// S]). `key_padding_mask` [N, S] is true where a key counts for nothing. `attn_mask` [L, S] or [N
/// * heads, L, S] is true where not to look, or is added. Throws Error for shapes that do not fit.
std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace taeda::inline v0_2::nn::functional
