#include "taeda/nn/functional/activation.h"

#include "taeda/ops/create.h"
#include "taeda/ops/random_forms.h"

namespace taeda::inline v0_2::nn::functional {

Tensor rrelu(const Tensor& input, double lower, double upper, bool training, bool inplace) {
  return inplace ? taeda::rrelu_(input, lower, upper, training)
                 : taeda::rrelu(input, lower, upper, training);
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  const Tensor gumbels = empty_like(logits).exponential_().log().neg();
  const Tensor soft = logits.add(gumbels).div(tau).softmax(dim);
  if (!hard) return soft;
  const Tensor best = soft.argmax(dim, /*keepdim=*/true);
  return zeros_like(soft.detach()).scatter(dim, best, 1).sub(soft.detach()).add(soft);
}

}  // namespace taeda::inline v0_2::nn::functional
