#include "taeda/ops/nn/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bodies/attention.h"
#include "taeda/autograd/record.h"
#include "taeda/kernels/attention.h"
#include "taeda/kernels/random.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/dropout_state.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2 {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    double dropout_p, bool causal) {
  TAEDA_CHECK(q.dtype() == k.dtype() && q.dtype() == v.dtype(),
              "Expected query, key, and value to have the same dtype, but got query.dtype: ",
              detail::type_name(q.dtype()), " key.dtype: ", detail::type_name(k.dtype()),
              " and value.dtype: ", detail::type_name(v.dtype()), " instead.");
  TAEDA_CHECK(q.device() == k.device() && q.device() == v.device(),
              "Expected query, key, and value to have the same device type, but got query.device: ",
              q.device(), " key.device: ", k.device(), " and value.device: ", v.device(),
              " instead.");
  check_floating("scaled_dot_product_attention", q);
  TAEDA_CHECK(q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2,
              "Expected query, key, and value to all be  at least 2 dimensional, but got "
              "query.dim: ",
              q.dim(), " key.dim: ", k.dim(), " and value.dim: ", v.dim(), " instead.");
  TAEDA_CHECK(dropout_p >= 0 && dropout_p <= 1,
              "dropout probability has to be between 0 and 1, but got ", dropout_p);
  if (!mask.defined()) return;
  TAEDA_CHECK(!causal,
              "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
              "is_causal=True");
  TAEDA_CHECK(mask.dtype() == kBool || mask.dtype() == kFloat || mask.dtype() == q.dtype(),
              "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
              "attn_mask.dtype: ",
              to_string(mask.dtype()), " and  query.dtype: ", to_string(q.dtype()), " instead.");
  check_same_device("scaled_dot_product_attention", {&q, &mask});
}

/// Heads of keys or values, repeated for each of the heads that share one.
Tensor repeated_heads(const Tensor& t, int64_t heads) {
  const int64_t own = t.size(-3);
  return own == heads ? t : t.repeat_interleave(heads / own, -3);
}

// ---- Composed of other operations

struct Operands {
  Tensor query, key, value, mask;
};

/// The weights before dropout. Rows that look nowhere are zeros.
Tensor attention_weights(const Operands& x, const AttentionSpec& spec) {
  Tensor scores = x.query.mul(spec.scale).matmul(x.key.transpose(-2, -1));
  if (spec.causal) {
    const Tensor later =
        ones({scores.size(-2), scores.size(-1)}, TensorOptions(kBool).device(scores.device()))
            .triu(1);
    scores = scores.masked_fill(later, kMinusInfinity);
  }
  if (!x.mask.defined()) return scores.softmax(-1);
  scores = x.mask.dtype() == kBool ? scores.masked_fill(x.mask.logical_not(), kMinusInfinity)
                                   : scores.add(x.mask.to(scores.dtype()));
  const Tensor blind = scores.detach().eq(kMinusInfinity).all(-1, true);
  return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0);
}

Tensor composed_attention(const Operands& x, const AttentionSpec& spec) {
  const Tensor weights = attention_weights(x, spec);
  return dropout(weights, spec.dropout, true).matmul(x.value);
}

// ---- Fused

struct AttentionState {
  autograd::Saved query, key, value, mask, out;
  Tensor log_sum;
  AttentionSpec spec;
  detail::DropoutMask dropped;
};

/// What the kernels take: dense in the last dimension.
Tensor dense_rows(const Tensor& t) {
  return t.stride(-1) == 1 || t.size(-1) == 1 ? t : t.contiguous();
}

/// Room for (B, H, rows, width) with heads and rows in the order that they have in `like`, so that
/// what stands around attention can view it as its own.
Tensor heads_like(const Tensor& like, int64_t width) {
  DimVector sizes(like.sizes());
  sizes[3] = width;
  const bool rows_first = like.stride(1) < like.stride(2) && like.size(1) > 1;
  Layout layout{sizes, contiguous_strides(sizes), 0};
  if (rows_first) layout.strides = {sizes[1] * sizes[2] * width, width, sizes[1] * width, 1};
  return make_tensor(layout, like.dtype(), like.device());
}

TensorVec fused_gradients(const AttentionState& s, const Tensor& g) {
  const Tensor q = dense_rows(s.query.unpack()), k = dense_rows(s.key.unpack()),
               v = dense_rows(s.value.unpack()), grad = dense_rows(g);
  TensorVec out{heads_like(q, q.size(3)), heads_like(k, k.size(3)), heads_like(v, v.size(3))};
  attention_backward_slot(q.device().type(), out[0], out[1], out[2], grad, q, k, v,
                          s.mask.defined() ? s.mask.unpack() : Tensor(), s.out.unpack(), s.log_sum,
                          s.spec, s.dropped.philox, s.dropped.kept);
  return out;
}

/// The decisions of dropout as numbers to multiply with.
Tensor dropout_factors(const Tensor& weights, const AttentionState& s) {
  const NoGradGuard guard;
  const Tensor factors = ones(weights.sizes(), weights.options().requires_grad(false));
  detail::apply_decisions(factors, factors, s.spec.dropout, s.dropped);
  return factors;
}

/// Sums over the heads that share one.
Tensor summed_heads(const Tensor& t, int64_t heads) {
  if (t.size(1) == heads) return t;
  return t.reshape({t.size(0), heads, t.size(1) / heads, t.size(2), t.size(3)}).sum(2);
}

/// The same from differentiable operations.
TensorVec composed_gradients(const AttentionState& s, const Tensor& g) {
  const Tensor q = s.query.unpack(), key = s.key.unpack(), value = s.value.unpack();
  const Tensor k = repeated_heads(key, q.size(1)), v = repeated_heads(value, q.size(1));
  const Tensor weights =
      attention_weights({q, k, v, s.mask.defined() ? s.mask.unpack() : Tensor()}, s.spec);
  Tensor kept = weights, grad_weights = g.matmul(v.transpose(-2, -1));
  if (s.spec.dropout > 0) {
    const Tensor factors = dropout_factors(weights, s);
    kept = weights.mul(factors);
    grad_weights = grad_weights.mul(factors);
  }
  const Tensor grad_scores =
      weights.mul(grad_weights.sub(weights.mul(grad_weights).sum(-1, true))).mul(s.spec.scale);
  return {grad_scores.matmul(k), summed_heads(grad_scores.transpose(-2, -1).matmul(q), key.size(1)),
          summed_heads(kept.transpose(-2, -1).matmul(g), value.size(1))};
}

/// Operands (B, H, L, E), (B, G, S, E), (B, G, S, V), mask (B, H, L, S) or undefined.
Tensor fused_attention(const Operands& x, const AttentionSpec& spec) {
  AttentionState s;
  s.spec = spec;
  if (spec.dropout > 0) {
    const int64_t scores = x.query.size(0) * x.query.size(1) * x.query.size(2) * x.key.size(2);
    s.dropped = detail::next_mask(x.query, scores, 1 - spec.dropout);
  }
  const Tensor out = heads_like(x.query, x.value.size(3));
  {
    const NoGradGuard guard;
    const ScalarType computing = x.query.dtype() == kDouble ? kDouble : kFloat;
    s.log_sum = make_tensor(x.query.sizes().slice(0, 3), computing, x.query.device());
    attention_slot(x.query.device().type(), out, s.log_sum, dense_rows(x.query), dense_rows(x.key),
                   dense_rows(x.value), x.mask, spec, s.dropped.philox, s.dropped.kept);
  }
  if (!wants_grad(x.query, x.key, x.value)) return out;
  s.query = save_tensor(x.query, "query");
  s.key = save_tensor(x.key, "key");
  s.value = save_tensor(x.value, "value");
  if (x.mask.defined()) s.mask = save_tensor(x.mask, "mask");
  s.out = save_output(out);
  const char* node = x.query.is_cpu() ? "ScaledDotProductFlashAttentionForCpuBackward0"
                                      : "ScaledDotProductFlashAttentionBackward0";
  record(node, out, {x.query, x.key, x.value}, [s](const Tensor& g, Needs) {
    return detail::fused_or_differentiable([&] { return fused_gradients(s, g); },
                                           [&] { return composed_gradients(s, g); });
  });
  return out;
}

// ---- The choice

/// (B, H, L, E), with dimensions of size 1 in front or what is in front of H as one.
Tensor with_batch(const Tensor& t) {
  Tensor out = t;
  while (out.dim() < 4) out = out.unsqueeze(0);
  return out.dim() == 4 ? out : out.flatten(0, -4);
}

/// Whether the mask broadcasts to (B, H, L, S) without a gradient.
bool is_plain_mask(const Tensor& mask, const Tensor& q, const Tensor& k) {
  if (!mask.defined()) return true;
  if (mask.dim() > 4 || q.dim() > 4 || wants_grad(mask)) return false;
  const int64_t wanted[] = {k.size(-2), q.size(-2), q.dim() > 2 ? q.size(-3) : 1,
                            q.dim() > 3 ? q.size(-4) : 1};
  for (int64_t d = 0; d < mask.dim(); ++d)
    if (mask.size(-1 - d) != 1 && mask.size(-1 - d) != wanted[d]) return false;
  return true;
}

/// The widest heads that the device's fused kernels take, or win with: those of accelerators for
/// 16-bit floats keep rows in registers.
int64_t widest_head(const Tensor& t) { return !t.is_cpu() && t.element_size() == 2 ? 128 : 256; }

bool fits_fused(const Operands& x, double dropout_p, bool gqa) {
  const Tensor &q = x.query, &k = x.key, &v = x.value;
  if (dropout_p == 1) return false;
  if (q.dim() != k.dim() || q.dim() != v.dim()) return false;
  if (q.numel() == 0 || k.numel() == 0 || v.numel() == 0) return false;
  for (int64_t d = 0; d < q.dim() - 3; ++d)
    if (q.size(d) != k.size(d) || q.size(d) != v.size(d)) return false;
  if (q.dim() > 2 && (k.size(-3) != v.size(-3) || (!gqa && q.size(-3) != k.size(-3)))) return false;
  return q.size(-1) == k.size(-1) && k.size(-2) == v.size(-2) &&
         std::max(q.size(-1), v.size(-1)) <= widest_head(q) && is_plain_mask(x.mask, q, k);
}

}  // namespace

Tensor do_scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const Tensor& attn_mask, double dropout_p, bool is_causal,
                                       std::optional<double> scale, bool enable_gqa) {
  check_operands(query, key, value, attn_mask, dropout_p, is_causal);
  if (enable_gqa) {
    TAEDA_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3,
                "enable_gqa expects query, key, and value to be at least 3 dimensional");
    TAEDA_CHECK(key.size(-3) > 0 && value.size(-3) > 0 && query.size(-3) % key.size(-3) == 0 &&
                    query.size(-3) % value.size(-3) == 0,
                "Number of heads in key and value must divide the number of heads in query");
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const AttentionSpec spec{factor, is_causal, dropout_p};
  Operands x{query, key, value, attn_mask};
  if (!fits_fused(x, dropout_p, enable_gqa)) {
    if (enable_gqa) {
      x.key = repeated_heads(key, query.size(-3));
      x.value = repeated_heads(value, query.size(-3));
    }
    return composed_attention(x, spec);
  }
  x = {with_batch(query), with_batch(key), with_batch(value), attn_mask};
  if (attn_mask.defined()) {
    // Whatever the kernels do not read.
    const Tensor mask =
        query.dtype() == kDouble && attn_mask.dtype() == kFloat ? attn_mask.to(kDouble) : attn_mask;
    x.mask = mask.expand({x.query.size(0), x.query.size(1), x.query.size(2), x.key.size(2)});
  }
  const Tensor out = fused_attention(x, spec);
  if (query.dim() == 4) return out;
  DimVector sizes(query.sizes());
  sizes.back() = value.size(-1);
  return out.reshape(sizes);
}

}  // namespace taeda::inline v0_2
