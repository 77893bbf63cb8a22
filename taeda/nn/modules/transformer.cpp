#include "taeda/nn/modules/transformer.h"

#include <cmath>
#include <limits>

#include "taeda/nn/functional/activation.h"
#include "taeda/nn/functional/attention.h"
#include "taeda/nn/functional/dropout.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"

namespace taeda::nn {

namespace {

Tensor masked(const Tensor& scores, const Tensor& mask) {
  if (mask.dtype() == kBool)
    return scores.masked_fill(mask, -std::numeric_limits<double>::infinity());
  return scores.add(mask);
}

/// Both masks as one that scaled_dot_product_attention takes, broadcasting to (batch, heads, L, S);
/// undefined if there is none. What is given says where not to look, or is added to the scores.
Tensor joined_mask(const Tensor& attn_mask, const Tensor& padding, int64_t batch, int64_t heads) {
  Tensor a = attn_mask, b = padding;
  if (a.defined() && a.dim() == 3) a = a.reshape({batch, heads, a.size(1), a.size(2)});
  if (b.defined()) b = b.view({batch, 1, 1, b.size(1)});
  if (!a.defined()) std::swap(a, b);
  if (!a.defined()) return a;
  const bool both_bool = a.dtype() == kBool && (!b.defined() || b.dtype() == kBool);
  if (both_bool) return (b.defined() ? a.logical_or(b) : a).logical_not();
  if (!b.defined()) return a;
  if (a.dtype() == kBool) std::swap(a, b);
  return masked(a.expand(broadcast_sizes(a.sizes(), b.sizes())), b);
}

}  // namespace

void MultiheadAttentionImpl::reset() {
  const int64_t size = options.embed_dim();
  TAEDA_CHECK_VALUE(options.num_heads() > 0 && size % options.num_heads() == 0,
                    "embed_dim must be divisible by num_heads");
  in_proj_weight = register_parameter("in_proj_weight", empty({3 * size, size}));
  in_proj_bias = register_parameter("in_proj_bias", options.bias() ? zeros({3 * size}) : Tensor());
  out_proj = register_module("out_proj", Linear(LinearOptions(size, size).bias(options.bias())));
  init::xavier_uniform_(in_proj_weight);
  if (options.bias()) init::zeros_(out_proj->bias);
}

Tensor MultiheadAttentionImpl::project(const Tensor& x, int64_t part) const {
  const int64_t size = options.embed_dim(), heads = options.num_heads();
  const Tensor bias = in_proj_bias.defined() ? in_proj_bias.narrow(0, part * size, size) : Tensor();
  const Tensor y = functional::linear(x, in_proj_weight.narrow(0, part * size, size), bias);
  return y.reshape({y.size(0), y.size(1) * heads, size / heads}).transpose(0, 1);
}

std::tuple<Tensor, Tensor> MultiheadAttentionImpl::forward(
    const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
    bool need_weights, const Tensor& attn_mask, bool average_attn_weights) {
  TAEDA_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
              "query, key and value should be batched 3-D tensors but "
              "received ",
              query.dim(), "-D, ", key.dim(), "-D and ", value.dim(), "-D tensors");
  TAEDA_CHECK(query.size(2) == options.embed_dim(), "was expecting embedding dimension of ",
              options.embed_dim(), ", but got ", query.size(2));
  const auto time_first = [&](const Tensor& t) {
    return options.batch_first() ? t.transpose(0, 1) : t;
  };
  const Tensor q = project(time_first(query), 0), k = project(time_first(key), 1),
               v = project(time_first(value), 2);
  const int64_t heads = options.num_heads(), length = q.size(1), source = k.size(1),
                batch = q.size(0) / heads;
  if (key_padding_mask.defined()) {
    const int64_t expected[] = {batch, source};
    TAEDA_CHECK(key_padding_mask.sizes() == IntArrayRef(expected),
                "expecting key_padding_mask shape of ", IntArrayRef(expected), ", but got ",
                key_padding_mask.sizes());
  }
  const double dropout = is_training() ? options.dropout() : 0;
  if (!need_weights) {
    const auto by_head = [&](const Tensor& t) {
      return t.view({batch, heads, t.size(1), t.size(2)});
    };
    const Tensor attended = functional::scaled_dot_product_attention(
        by_head(q), by_head(k), by_head(v), joined_mask(attn_mask, key_padding_mask, batch, heads),
        dropout);
    const Tensor joined =
        attended.permute({2, 0, 1, 3}).reshape({length, batch, options.embed_dim()});
    return {time_first(out_proj(joined)), Tensor()};
  }
  Tensor scores = q.div(std::sqrt(static_cast<double>(q.size(2)))).matmul(k.transpose(1, 2));
  if (attn_mask.defined()) scores = masked(scores, attn_mask);
  if (key_padding_mask.defined())
    scores = masked(scores.view({batch, heads, length, source}),
                    key_padding_mask.view({batch, 1, 1, source}))
                 .view({batch * heads, length, source});
  Tensor weights = scores.softmax(-1);
  weights = functional::dropout(weights, dropout, true);
  const Tensor joined =
      weights.matmul(v).transpose(0, 1).reshape({length, batch, options.embed_dim()});
  const Tensor output = time_first(out_proj(joined));
  const Tensor per_head = weights.view({batch, heads, length, source});
  return {output, average_attn_weights ? per_head.mean(1, false) : per_head};
}

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
  self_attn = register_module("self_attn",
                              MultiheadAttention(MultiheadAttentionOptions(o.d_model(), o.nhead())
                                                     .dropout(o.dropout())
                                                     .batch_first(o.batch_first())));
  linear1 = register_module("linear1", Linear(o.d_model(), o.dim_feedforward()));
  dropout = register_module("dropout", Dropout(o.dropout()));
  linear2 = register_module("linear2", Linear(o.dim_feedforward(), o.d_model()));
  norm1 = register_module("norm1", LayerNorm(o.d_model()));
  norm2 = register_module("norm2", LayerNorm(o.d_model()));
  dropout1 = register_module("dropout1", Dropout(o.dropout()));
  dropout2 = register_module("dropout2", Dropout(o.dropout()));
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

}  // namespace taeda::nn
