#include "taeda/nn/modules/transformer_coder.h"

#include <limits>

#include "taeda/nn/modules/layer_count.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::nn {

namespace {

void draw_matrices(const Module& module) {
  for (const Tensor& p : module.parameters())
    if (p.dim() > 1) init::xavier_uniform_(p);
}

/// A list with copies of the layer.
ModuleList copies(const Module& layer, int64_t count) {
  detail::check_layer_count(count, layer.parameters());
  ModuleList out;
  for (int64_t i = 0; i < count; ++i) out->push_back(layer.clone());
  return out;
}

}  // namespace

void TransformerDecoderLayerImpl::reset() {
  const auto& o = options;
  detail::check_activation(o.activation());
  const auto attention = [&] {
    return MultiheadAttention({.embed_dim = o.d_model,
                               .num_heads = o.nhead,
                               .dropout = o.dropout,
                               .batch_first = o.batch_first});
  };
  self_attn = register_module("self_attn", attention());
  multihead_attn = register_module("multihead_attn", attention());
  linear1 = register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  dropout = register_module("dropout", Dropout(o.dropout()));
  linear2 = register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  norm1 = register_module("norm1", LayerNorm(o.d_model()));
  norm2 = register_module("norm2", LayerNorm(o.d_model()));
  norm3 = register_module("norm3", LayerNorm(o.d_model()));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
  dropout3 = register_module("dropout3", Dropout(o.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  for (MultiheadAttention attention : {self_attn, multihead_attn}) attention->_reset_parameters();
  for (Linear linear : {linear1, linear2}) linear->reset_parameters();
  for (LayerNorm norm : {norm1, norm2, norm3}) norm->reset_parameters();
}

Tensor TransformerDecoderLayerImpl::attend(const Tensor& x, const Tensor& mask,
                                           const Tensor& padding_mask) {
  return dropout1(std::get<0>(self_attn(x, x, x, padding_mask, /*need_weights=*/false, mask)));
}

Tensor TransformerDecoderLayerImpl::feed_forward(const Tensor& x) {
  return dropout3(linear2(dropout(detail::activate(options.activation(), linear1(x)))));
}

Tensor TransformerDecoderLayerImpl::forward(const Tensor& tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  const auto look = [&](const Tensor& x) -> Tensor {
    return dropout2(std::get<0>(multihead_attn(x, memory, memory, memory_key_padding_mask,
                                               /*need_weights=*/false, memory_mask)));
  };
  if (options.norm_first()) {
    Tensor x = tgt.add(attend(norm1(tgt), tgt_mask, tgt_key_padding_mask));
    x = x.add(look(norm2(x)));
    return x.add(feed_forward(norm3(x)));
  }
  Tensor x = norm1(tgt.add(attend(tgt, tgt_mask, tgt_key_padding_mask)));
  x = norm2(x.add(look(x)));
  return norm3(x.add(feed_forward(x)));
}

void TransformerEncoderImpl::reset() {
  layers = register_module("layers", copies(*options.encoder_layer(), options.num_layers()));
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

void TransformerEncoderImpl::reset_parameters() { draw_matrices(*this); }

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  TAEDA_CHECK(!layers->is_empty(), "TransformerEncoder should have at least one encoder layer");
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i)
    x = call(layers->at<TransformerEncoderLayerImpl>(i), x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

void TransformerDecoderImpl::reset() {
  layers = register_module("layers", copies(*options.decoder_layer(), options.num_layers()));
  if (options.norm().is_empty()) return;
  norm = options.norm().clone();
  register_module("norm", norm.ptr());
}

void TransformerDecoderImpl::reset_parameters() { draw_matrices(*this); }

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  TAEDA_CHECK(!layers->is_empty(), "TransformerDecoder should have at least one decoder layer");
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    x = call(layers->at<TransformerDecoderLayerImpl>(i), x, memory, tgt_mask, memory_mask,
             tgt_key_padding_mask, memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

void TransformerImpl::reset() {
  const auto& o = options;
  const TransformerEncoderLayerOptions layer{.d_model = o.d_model,
                                             .nhead = o.nhead,
                                             .dim_feedforward = o.dim_feedforward,
                                             .dropout = o.dropout,
                                             .activation = o.activation,
                                             .batch_first = o.batch_first,
                                             .norm_first = o.norm_first};
  const AnyModule last_norm(LayerNorm(o.d_model()));
  if (o.custom_encoder.is_empty())
    encoder = TransformerEncoder({.encoder_layer = TransformerEncoderLayer(layer),
                                  .num_layers = o.num_encoder_layers,
                                  .norm = last_norm});
  else
    encoder = o.custom_encoder.clone();
  register_module("encoder", encoder.ptr());
  if (o.custom_decoder.is_empty())
    decoder = TransformerDecoder({.decoder_layer = TransformerDecoderLayer(layer),
                                  .num_layers = o.num_decoder_layers,
                                  .norm = last_norm});
  else
    decoder = o.custom_decoder.clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() { draw_matrices(*this); }

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  TAEDA_CHECK(src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ",
              src.dim(), " and ", tgt.dim());
  const int64_t batch_dim = options.batch_first() ? 0 : 1;
  TAEDA_CHECK(src.size(batch_dim) == tgt.size(batch_dim),
              "the batch number of src and tgt must be equal");
  TAEDA_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
              "the feature number of src and tgt must be equal to d_model");
  const Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
  return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                         memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  return full({sz, sz}, -std::numeric_limits<float>::infinity(), kFloat).triu(1);
}

}  // namespace taeda::inline v0_2::nn
