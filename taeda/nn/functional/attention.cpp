#include "taeda/nn/functional/attention.h"

#include <cmath>
#include <limits>

#include "taeda/nn/functional/dropout.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn::functional {

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

/// Query, key and value, [N * heads, length, E / heads] each, and the masks that belong to them.
struct Operands {
  Tensor q, k, v, attn_mask, padding;
  /// Masks allow one more key.
  void widen_masks() {
    for (Tensor* mask : {&attn_mask, &padding})
      if (mask->defined()) *mask = pad(*mask, IntArrayRef({0, 1}));
  }
};

Tensor projected(const Tensor& x, const MultiheadAttentionForwardFuncOptions& o, int64_t part) {
  const int64_t size = o.embed_dim_to_check();
  const Tensor bias =
      o.in_proj_bias().defined() ? o.in_proj_bias().narrow(0, part * size, size) : Tensor();
  if (!o.use_separate_proj_weight())
    return taeda::linear(x, o.in_proj_weight().narrow(0, part * size, size), bias);
  return taeda::linear(x,
                       part == 0   ? o.q_proj_weight()
                       : part == 1 ? o.k_proj_weight()
                                   : o.v_proj_weight(),
                       bias);
}

Operands operands(const Tensor& query, const Tensor& key, const Tensor& value,
                  const MultiheadAttentionForwardFuncOptions& o) {
  const int64_t batch = query.size(1), heads = o.num_heads(),
                head_size = o.embed_dim_to_check() / heads;
  const auto by_head = [&](const Tensor& t) {
    return t.reshape({t.size(0), batch * heads, head_size}).transpose(0, 1);
  };
  Operands out{by_head(projected(query, o, 0)), {}, {}, o.attn_mask(), o.key_padding_mask()};
  Tensor k = o.static_k().defined() ? Tensor() : projected(key, o, 1),
         v = o.static_v().defined() ? Tensor() : projected(value, o, 2);
  if (o.bias_k().defined() && o.bias_v().defined()) {
    TAEDA_CHECK(k.defined(), "bias cannot be added to static key.");
    TAEDA_CHECK(v.defined(), "bias cannot be added to static value.");
    k = cat({k, o.bias_k().expand({1, batch, k.size(2)})}, 0);
    v = cat({v, o.bias_v().expand({1, batch, v.size(2)})}, 0);
    out.widen_masks();
  }
  out.k = k.defined() ? by_head(k) : o.static_k();
  out.v = v.defined() ? by_head(v) : o.static_v();
  if (o.add_zero_attn()) {
    const Tensor none = zeros({batch * heads, 1, head_size}, out.k.options());
    out.k = cat({out.k, none}, 1);
    out.v = cat({out.v, none}, 1);
    out.widen_masks();
  }
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(
    const Tensor& query, const Tensor& key, const Tensor& value,
    const MultiheadAttentionForwardFuncOptions& o) {
  TAEDA_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
              "query, key and value should be batched 3-D tensors but received ", query.dim(),
              "-D, ", key.dim(), "-D and ", value.dim(), "-D tensors");
  const int64_t size = o.embed_dim_to_check(), heads = o.num_heads();
  TAEDA_CHECK(query.size(2) == size, "was expecting embedding dimension of ", size, ", but got ",
              query.size(2));
  TAEDA_CHECK(heads > 0 && size % heads == 0, "embed_dim must be divisible by num_heads");
  const int64_t length = query.size(0), batch = query.size(1);
  if (o.key_padding_mask().defined()) {
    const int64_t expected[] = {batch, o.static_k().defined() ? o.static_k().size(1) : key.size(0)};
    TAEDA_CHECK(o.key_padding_mask().sizes() == IntArrayRef(expected),
                "expecting key_padding_mask shape of ", IntArrayRef(expected), ", but got ",
                o.key_padding_mask().sizes());
  }
  const auto [q, k, v, attn_mask, padding] = operands(query, key, value, o);
  const double dropout_p = o.training() ? o.dropout_p() : 0;
  const int64_t source = k.size(1);
  if (!o.need_weights()) {
    const auto split = [&](const Tensor& t) { return t.unflatten(0, {batch, heads}); };
    const Tensor attended = scaled_dot_product_attention(
        split(q), split(k), split(v), joined_mask(attn_mask, padding, batch, heads), dropout_p);
    const Tensor joined = attended.permute({2, 0, 1, 3}).reshape({length, batch, size});
    return {taeda::linear(joined, o.out_proj_weight(), o.out_proj_bias()), Tensor()};
  }
  Tensor scores = q.div(std::sqrt(static_cast<double>(q.size(2)))).matmul(k.transpose(1, 2));
  if (attn_mask.defined()) scores = masked(scores, attn_mask);
  if (padding.defined())
    scores =
        masked(scores.view({batch, heads, length, source}), padding.view({batch, 1, 1, source}))
            .view({batch * heads, length, source});
  const Tensor weights = functional::dropout(scores.softmax(-1), dropout_p, true);
  const Tensor joined = weights.matmul(v).transpose(0, 1).reshape({length, batch, size});
  const Tensor per_head = weights.view({batch, heads, length, source});
  return {taeda::linear(joined, o.out_proj_weight(), o.out_proj_bias()),
          o.average_attn_weights() ? per_head.mean(1, false) : per_head};
}

}  // namespace taeda::nn::functional
