#include "taeda/distributions/categorical.h"

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/distributions/binary.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributions {

namespace {

DimVector without_last(IntArrayRef shape) { return DimVector(shape.slice(0, shape.size() - 1)); }

/// The entropy of outcomes with these logits. -inf counts as a large number, which 0 times is 0.
Tensor entropy_of(const Tensor& logits, const Tensor& probs) {
  return logits.clamp_min(-largest_of(logits.dtype())).mul(probs).sum({-1}).neg();
}

/// Indices of `shape`, drawn by probs [batch..., k] in PyTorch's order: all of one distribution,
/// then the next.
Tensor indices(const Tensor& probs, IntArrayRef shape, Generator* generator) {
  NoGradGuard guard;
  const int64_t k = probs.size(-1), batches = probs.numel() / std::max<int64_t>(k, 1);
  int64_t all = 1;
  for (const int64_t size : shape) all *= size;
  if (all == 0) return empty(shape, TensorOptions(probs.device()).dtype(kLong));
  return multinomial(probs.reshape({-1, k}), all / batches, true, generator).t().reshape(shape);
}

Tensor log_prob_of_index(const Tensor& logits, const Tensor& value) {
  DimVector shape = broadcast_sizes(value.sizes(), without_last(logits.sizes()));
  const Tensor index = value.to(kLong).expand(shape).unsqueeze(-1);
  shape.push_back(logits.size(-1));
  return logits.expand(shape).gather(-1, index).squeeze(-1);
}

}  // namespace

Categorical::Categorical(Chances probs, Validate validate_args)
    : DistributionOf("Categorical", std::move(probs), validate_args, 0) {}

Tensor Categorical::entropy() const { return entropy_of(logits(), probs()); }
Tensor Categorical::mean() const {
  return full(batch_shape(), NAN, argument(0).options().requires_grad(false));
}
Tensor Categorical::mode() const { return probs().argmax(-1); }
Tensor Categorical::variance() const { return mean(); }

Tensor Categorical::draw(IntArrayRef shape, Generator* generator) const {
  return indices(probs(), shape, generator);
}

Tensor Categorical::log_density(const Tensor& value) const {
  return log_prob_of_index(logits(), value);
}

Tensor Categorical::all_values() const {
  return arange(num_outcomes(), TensorOptions(argument(0).device()).dtype(kLong));
}

OneHotCategorical::OneHotCategorical(std::string name, Chances probs, Validate validate_args)
    : DistributionOf(std::move(name), std::move(probs), validate_args, 1) {}
OneHotCategorical::OneHotCategorical(Chances probs, Validate validate_args)
    : OneHotCategorical("OneHotCategorical", std::move(probs), validate_args) {}

Tensor OneHotCategorical::entropy() const { return entropy_of(logits(), probs()); }
Tensor OneHotCategorical::mode() const {
  return one_hot(probs().argmax(-1), num_outcomes()).to(argument(0).dtype());
}
Tensor OneHotCategorical::variance() const { return probs().mul(probs().neg().add(1)); }

Tensor OneHotCategorical::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor index = indices(probs(), without_last(shape), generator);
  return one_hot(index, num_outcomes()).to(argument(0).dtype());
}

Tensor OneHotCategorical::log_density(const Tensor& value) const {
  return log_prob_of_index(logits(), value.argmax(-1));
}

Tensor OneHotCategorical::all_values() const {
  return eye(num_outcomes(), argument(0).options().requires_grad(false));
}

OneHotCategoricalStraightThrough::OneHotCategoricalStraightThrough(Chances probs,
                                                                   Validate validate_args)
    : DistributionOf("OneHotCategoricalStraightThrough", std::move(probs), validate_args) {}

Tensor OneHotCategoricalStraightThrough::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor p = probs();
  return OneHotCategorical::draw(shape, generator).add(p.sub(p.detach()));
}

namespace {

int64_t checked_count(int64_t total_count) {
  TAEDA_CHECK_VALUE(total_count >= 0, "Multinomial: total_count must not be negative, but is ",
                    total_count);
  return total_count;
}

}  // namespace

Multinomial::Multinomial(int64_t total_count, Chances probs, Validate validate_args)
    : DistributionOf("Multinomial", std::move(probs), validate_args, 1),
      total_count_(checked_count(total_count)) {}

Tensor Multinomial::mean() const { return probs().mul(total_count_); }
Tensor Multinomial::variance() const { return mean().mul(probs().neg().add(1)); }

/// By the entropy of the counts of each outcome, which are binomial.
Tensor Multinomial::entropy() const {
  const auto n = static_cast<double>(total_count_);
  const Binomial counts(total_count_, probs(), false);
  const Tensor support = counts.enumerate_support(false);
  const Tensor weights = support.add(1).lgamma();
  const Tensor expected = counts.log_prob(support).exp().mul(weights).sum({0, -1});
  return entropy_of(logits(), probs()).mul(n).sub(std::lgamma(n + 1)).add(expected);
}

Tensor Multinomial::draw(IntArrayRef shape, Generator* generator) const {
  DimVector draws{total_count_};
  for (const int64_t size : without_last(shape)) draws.push_back(size);
  const Tensor index = indices(probs(), draws, generator).movedim(0, -1).contiguous();
  const Tensor counts = zeros(shape, argument(0).options().requires_grad(false));
  return counts.scatter_add_(-1, index, ones_like(index, TensorOptions(argument(0).dtype())));
}

Tensor Multinomial::log_density(const Tensor& value) const {
  const Tensor l = logits(), none = value.eq(0).logical_and(l.eq(-INFINITY));
  const Tensor powers = l.expand(none.sizes()).masked_fill(none, 0).mul(value).sum({-1});
  return value.sum({-1}).add(1).lgamma().sub(value.add(1).lgamma().sum({-1})).add(powers);
}

RelaxedOneHotCategorical::RelaxedOneHotCategorical(Parameter temperature, Chances probs,
                                                   Validate validate_args)
    : DistributionOf(
          "RelaxedOneHotCategorical", std::move(probs), validate_args, 1,
          std::vector<Argument>{{"temperature", std::move(temperature), constraints::positive()}}) {
}

Tensor RelaxedOneHotCategorical::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor u = clamp_probs(uniform_like(argument(0), shape, 0, 1, generator));
  const Tensor gumbel = u.log().neg().log().neg();
  return logits().add(gumbel).div(temperature().unsqueeze(-1)).softmax(-1);
}

Tensor RelaxedOneHotCategorical::log_density(const Tensor& value) const {
  const auto k = static_cast<double>(num_outcomes());
  const Tensor logarithm = value.log();
  const Tensor score = logits().sub(logarithm.mul(temperature().unsqueeze(-1)));
  const Tensor density = score.log_softmax(-1).sum({-1}).add(temperature().log().mul(k - 1));
  return density.add(std::lgamma(k)).sub(logarithm.sum({-1}));  // by the exponential's derivative
}

}  // namespace taeda::inline v0_2::distributions
