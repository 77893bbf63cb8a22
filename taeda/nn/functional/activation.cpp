#include "taeda/nn/functional/activation.h"

#include "taeda/ops/create.h"

namespace taeda::inline v0_2::nn::functional {

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace) {
  TAEDA_CHECK(lower <= upper, "Lower bound should be less than or equal to the upper bound");
  Tensor out;
  if (training) {
    const Tensor slopes = empty_like(input).uniform_(lower, upper);
    slopes.masked_fill_(input.detach().le(0).logical_not(), 1);
    out = input.mul(slopes);
  } else {
    out = taeda::leaky_relu(input, (lower + upper) / 2);
  }
  return inplace ? input.copy_(out) : out;
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  const Tensor gumbels = empty_like(logits).exponential_().log().neg();
  const Tensor soft = logits.add(gumbels).div(tau).softmax(dim);
  if (!hard) return soft;
  const Tensor best = soft.argmax(dim, /*keepdim=*/true);
  return zeros_like(soft.detach()).scatter(dim, best, 1).sub(soft.detach()).add(soft);
}

}  // namespace taeda::nn::functional
