#include "taeda/nn/modules/transformer.h"

#include "taeda/nn/functional/activation.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

void MultiheadAttentionImpl::reset() {
  const auto& o = options;
  const int64_t size = o.embed_dim();
  TAEDA_CHECK_VALUE(size > 0 && o.num_heads() > 0,
                    "embed_dim and num_heads must be greater than 0, got embed_dim=", size,
                    " and num_heads=", o.num_heads(), " instead");
  TAEDA_CHECK_VALUE(size % o.num_heads() == 0, "embed_dim must be divisible by num_heads");
  const bool same = o.kdim() == size && o.vdim() == size;
  in_proj_weight = register_parameter("in_proj_weight", same ? empty({3 * size, size}) : Tensor());
  q_proj_weight = register_parameter("q_proj_weight", same ? Tensor() : empty({size, size}));
  k_proj_weight = register_parameter("k_proj_weight", same ? Tensor() : empty({size, o.kdim()}));
  v_proj_weight = register_parameter("v_proj_weight", same ? Tensor() : empty({size, o.vdim()}));
  in_proj_bias = register_parameter("in_proj_bias", o.bias() ? zeros({3 * size}) : Tensor());
  out_proj = register_module("out_proj",
                             Linear({.in_features = size, .out_features = size, .bias = o.bias()}));
  bias_k = register_parameter("bias_k", o.add_bias_kv() ? empty({1, 1, size}) : Tensor());
  bias_v = register_parameter("bias_v", o.add_bias_kv() ? empty({1, 1, size}) : Tensor());
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& w : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
    if (w.defined()) init::xavier_uniform_(w);
  if (options.bias()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  if (options.add_bias_kv()) {
    init::xavier_normal_(bias_k);
    init::xavier_normal_(bias_v);
  }
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights) {
  const auto& o = options;
  // Tensors of another number of dimensions are refused below.
  const auto time_first = [&](const Tensor& t) {
    return o.batch_first() && t.dim() == 3 ? t.transpose(0, 1) : t;
  };
  auto [output, weights] = functional::multi_head_attention_forward(
      time_first(query), time_first(key), time_first(value),
      {.embed_dim_to_check = o.embed_dim,
       .num_heads = o.num_heads,
       .in_proj_weight = in_proj_weight,
       .in_proj_bias = in_proj_bias,
       .bias_k = bias_k,
       .bias_v = bias_v,
       .add_zero_attn = o.add_zero_attn,
       .dropout_p = o.dropout,
       .out_proj_weight = out_proj->weight,
       .out_proj_bias = out_proj->bias,
       .training = is_training(),
       .key_padding_mask = key_padding_mask,
       .need_weights = need_weights,
       .attn_mask = attn_mask,
       .use_separate_proj_weight = !in_proj_weight.defined(),
       .q_proj_weight = q_proj_weight,
       .k_proj_weight = k_proj_weight,
       .v_proj_weight = v_proj_weight,
       .average_attn_weights = average_attn_weights});
  return {time_first(output), weights};
}

Activation::Activation(Nonlinearity kind) : variant(kind) {}
Activation::Activation(const Activation&) = default;
Activation::Activation(Activation&&) noexcept = default;
Activation& Activation::operator=(const Activation&) = default;
Activation& Activation::operator=(Activation&&) noexcept = default;
Activation::~Activation() = default;

void detail::check_activation(const activation_t& activation) {
  const auto* named = std::get_if<Nonlinearity>(&activation);
  TAEDA_CHECK_VALUE(named ? *named == kReLU || *named == kGELU : bool(std::get<1>(activation)),
                    "activation should be relu/gelu");
}

Tensor detail::activate(const activation_t& activation, const Tensor& x) {
  const auto* named = std::get_if<Nonlinearity>(&activation);
  if (!named) return std::get<1>(activation)(x);
  return *named == kReLU ? x.relu() : functional::gelu(x);
}

void TransformerEncoderLayerImpl::reset() {
  const auto& o = options;
  detail::check_activation(o.activation());
  self_attn = register_module("self_attn", MultiheadAttention({.embed_dim = o.d_model,
                                                               .num_heads = o.nhead,
                                                               .dropout = o.dropout,
                                                               .batch_first = o.batch_first}));
  linear1 = register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  dropout = register_module("dropout", Dropout(o.dropout()));
  linear2 = register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  norm1 = register_module("norm1", LayerNorm(o.d_model()));
  norm2 = register_module("norm2", LayerNorm(o.d_model()));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  for (Linear linear : {linear1, linear2}) linear->reset_parameters();
  for (LayerNorm norm : {norm1, norm2}) norm->reset_parameters();
}

Tensor TransformerEncoderLayerImpl::attend(const Tensor& x, const Tensor& mask,
                                           const Tensor& padding_mask) {
  return dropout1(std::get<0>(self_attn(x, x, x, padding_mask, /*need_weights=*/false, mask)));
}

Tensor TransformerEncoderLayerImpl::feed_forward(const Tensor& x) {
  const Tensor h = linear1(x);
  return dropout2(linear2(dropout(detail::activate(options.activation(), h))));
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  if (options.norm_first()) {
    const Tensor x = src.add(attend(norm1(src), src_mask, src_key_padding_mask));
    return x.add(feed_forward(norm2(x)));
  }
  const Tensor x = norm1(src.add(attend(src, src_mask, src_key_padding_mask)));
  return norm2(x.add(feed_forward(x)));
}

}  // namespace taeda::inline v0_2::nn
