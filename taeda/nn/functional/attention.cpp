#include "taeda/nn/functional/attention.h"

#include <cmath>
#include <limits>

#include "taeda/nn/functional/dropout.h"
#include "taeda/ops/arithmetic.h"
#include "taeda/ops/create.h"
#include "taeda/ops/matmul.h"

namespace taeda::nn::functional {

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal) {
  TAEDA_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
              "scaled_dot_product_attention: Expected query, key, and "
              "value to all be at least 2 dimensional, but got query.dim(): ",
              query.dim(), ", key.dim(): ", key.dim(), " and value.dim(): ", value.dim(),
              " instead.");
  TAEDA_CHECK(!is_causal || !attn_mask.defined(),
              "scaled_dot_product_attention: Explicit attn_mask should not be set when "
              "is_causal=True");
  constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
  Tensor scores =
      query.div(std::sqrt(static_cast<double>(query.size(-1)))).matmul(key.transpose(-2, -1));
  if (is_causal) {
    const Tensor later =
        ones({query.size(-2), key.size(-2)}, TensorOptions(kBool).device(query.device())).triu(1);
    scores = scores.masked_fill(later, minus_infinity);
  } else if (attn_mask.defined()) {
    scores = attn_mask.dtype() == kBool
                 ? scores.masked_fill(attn_mask.logical_not(), minus_infinity)
                 : scores.add(attn_mask);
  }
  Tensor weights = scores.softmax(-1);
  if (dropout_p > 0) weights = functional::dropout(weights, dropout_p, true);
  return weights.matmul(value);
}

}  // namespace taeda::nn::functional
