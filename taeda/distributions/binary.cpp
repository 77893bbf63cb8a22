#include "taeda/distributions/binary.h"

#include <cmath>

#include "taeda/base/error.h"
#include "taeda/distributions/gamma.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

/// -log of the probability that log-odds `logits` give to `target` (0 and 1, or what lies between).
Tensor cross_entropy_of(const Tensor& logits, const Tensor& target) {
  return log1p_exp(logits).sub(logits.mul(target));
}

Tensor without_gradient(const Tensor& t, IntArrayRef shape) { return t.detach().expand(shape); }

/// log n! of whole numbers.
Tensor log_factorial(const Tensor& n) { return n.add(1).lgamma(); }

}  // namespace

Bernoulli::Bernoulli(Chances probs, Validate validate_args)
    : DistributionOf("Bernoulli", {probabilities(std::move(probs))}, 0, validate_args) {}

Tensor Bernoulli::entropy() const { return cross_entropy_of(logits(), probs()); }
Tensor Bernoulli::mode() const {
  const Tensor p = probs();
  return p.ge(0.5).to(p.dtype()).masked_fill(p.eq(0.5), NAN);
}
Tensor Bernoulli::variance() const { return probs().mul(probs().neg().add(1)); }

Tensor Bernoulli::draw(IntArrayRef shape, Generator* generator) const {
  return bernoulli(without_gradient(probs(), shape), generator);
}

Tensor Bernoulli::log_density(const Tensor& value) const {
  return cross_entropy_of(logits(), value).neg();
}
Tensor Bernoulli::all_values() const {
  return arange(2, argument(0).options().requires_grad(false));
}

namespace {

Chances above_zero(Chances probs, std::optional<bool> validate_args) {
  if (probs.are_logits || !validate_args.value_or(Distribution::default_validate_args()))
    return probs;
  const Parameter& p = probs.value;
  const bool valid = p.is_number() ? p.number() > 0 : taeda::detail::every(p.tensor().gt(0));
  TAEDA_CHECK_VALUE(valid,
                    "Expected parameter probs of distribution Geometric to be positive but found "
                    "invalid values:\n",
                    p.is_number() ? full({}, p.number()) : p.tensor());
  return probs;
}

}  // namespace

Geometric::Geometric(Chances probs, Validate validate_args)
    : DistributionOf("Geometric", {probabilities(above_zero(std::move(probs), validate_args))}, 0,
                     validate_args) {}

Tensor Geometric::entropy() const { return cross_entropy_of(logits(), probs()).div(probs()); }
Tensor Geometric::mean() const { return probs().reciprocal().sub(1); }
Tensor Geometric::mode() const { return zeros_like(argument(0)); }
Tensor Geometric::variance() const { return mean().div(probs()); }

Tensor Geometric::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor u = uniform_like(argument(0), shape, tiny_of(argument(0).dtype()), 1, generator);
  return u.log().div(probs().detach().neg().log1p()).floor();
}

Tensor Geometric::log_density(const Tensor& value) const {
  const Tensor p = probs();
  const Tensor certain = p.eq(1).logical_and(value.eq(0));
  const Tensor failures = value.mul(p.masked_fill(certain, 0).neg().log1p());
  return failures.add(p.log());
}

Binomial::Binomial(Parameter total_count, Chances probs, Validate validate_args)
    : DistributionOf("Binomial",
                     {{"total_count", std::move(total_count), constraints::nonnegative_integer()},
                      probabilities(std::move(probs))},
                     1, validate_args) {}

Tensor Binomial::mean() const { return total_count().mul(probs()); }
Tensor Binomial::mode() const {
  return total_count().add(1).mul(probs()).floor().minimum(total_count());
}
Tensor Binomial::variance() const { return mean().mul(probs().neg().add(1)); }

Tensor Binomial::entropy() const {
  const double most = total_count().max().item<double>();
  TAEDA_CHECK_NOT_IMPLEMENTED(total_count().min().item<double>() == most,
                              "Inhomogeneous total count not supported by `entropy`.");
  const Tensor density = log_prob(enumerate_support(false));
  return density.exp().mul(density).sum({0}).neg();
}

Tensor Binomial::draw(IntArrayRef shape, Generator* generator) const {
  return binomial(total_count().expand(shape), without_gradient(probs(), shape), generator);
}

Tensor Binomial::log_density(const Tensor& value) const {
  const Tensor& n = total_count();
  const Tensor choices =
      log_factorial(n).sub(log_factorial(value)).sub(log_factorial(n.sub(value)));
  return choices.add(value.mul(logits())).sub(n.mul(log1p_exp(logits())));
}

Tensor Binomial::all_values() const {
  const auto most = total_count().max().item<int64_t>();
  TAEDA_CHECK_NOT_IMPLEMENTED(total_count().min().item<int64_t>() == most,
                              "Inhomogeneous total count not supported by `enumerate_support`.");
  return arange(most + 1, argument(1).options().requires_grad(false));
}

namespace {

Constraint up_to_one() { return constraints::half_open_interval(0, 1); }

}  // namespace

NegativeBinomial::NegativeBinomial(Parameter total_count, Chances probs, Validate validate_args)
    : DistributionOf("NegativeBinomial",
                     {{"total_count", std::move(total_count), constraints::nonnegative()},
                      probs.are_logits ? probabilities(std::move(probs))
                                       : Argument{"probs", std::move(probs.value), up_to_one()}},
                     1, validate_args) {}

Tensor NegativeBinomial::mean() const { return total_count().mul(logits().exp()); }
Tensor NegativeBinomial::mode() const {
  return total_count().sub(1).mul(logits().exp()).floor().clamp_min(0);
}
Tensor NegativeBinomial::variance() const { return mean().div(logits().neg().sigmoid()); }

Tensor NegativeBinomial::draw(IntArrayRef shape, Generator* generator) const {
  const IntArrayRef samples = shape.slice(0, shape.size() - batch_shape().size());
  const Tensor rate = Gamma(total_count(), logits().neg().exp(), false).sample(samples, generator);
  return poisson(rate, generator);
}

Tensor NegativeBinomial::log_density(const Tensor& value) const {
  const Tensor& n = total_count();
  const Tensor powers = n.mul(log1p_exp(logits())).add(value.mul(log1p_exp(logits().neg()))).neg();
  const Tensor choices = n.add(value).lgamma().sub(log_factorial(value)).sub(n.lgamma());
  return powers.add(choices.masked_fill(n.add(value).eq(0), 0));
}

Poisson::Poisson(Parameter rate, Validate validate_args)
    : DistributionOf("Poisson", {{"rate", std::move(rate), constraints::nonnegative()}},
                     validate_args) {}

Tensor Poisson::mode() const { return rate().floor(); }

Tensor Poisson::draw(IntArrayRef shape, Generator* generator) const {
  return poisson(without_gradient(rate(), shape), generator);
}

Tensor Poisson::log_density(const Tensor& value) const {
  return value.xlogy(rate()).sub(rate()).sub(log_factorial(value));
}

RelaxedBernoulli::RelaxedBernoulli(Parameter temperature, Chances probs, Validate validate_args)
    : DistributionOf("RelaxedBernoulli",
                     {{"temperature", std::move(temperature), constraints::positive()},
                      probabilities(std::move(probs))},
                     1, validate_args) {}

Tensor RelaxedBernoulli::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor u = clamp_probs(uniform_like(argument(1), shape, 0, 1, generator));
  const Tensor noise = u.log().sub(u.neg().log1p());
  return noise.add(logits_of_binary(probs())).div(temperature()).sigmoid();
}

Tensor RelaxedBernoulli::log_density(const Tensor& value) const {
  const Tensor odds = logits_of_binary(value);
  const Tensor rest = logits().sub(odds.mul(temperature()));
  const Tensor of_odds = temperature().log().add(rest).sub(log1p_exp(rest).mul(2));
  return of_odds.add(log1p_exp(odds)).add(log1p_exp(odds.neg()));  // by the sigmoid's derivative
}

}  // namespace taeda::inline v0_2::distributions
