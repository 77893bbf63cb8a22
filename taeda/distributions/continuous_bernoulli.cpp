#include "taeda/distributions/continuous_bernoulli.h"

#include <numbers>

#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/unary.h"

namespace taeda::inline v0_2::distributions {

ContinuousBernoulli::ContinuousBernoulli(Chances probs, Limits lims, Validate validate_args)
    : DistributionOf("ContinuousBernoulli", {probabilities(std::move(probs))}, 0, validate_args),
      lims_(lims) {}

Tensor ContinuousBernoulli::probs() const { return clamp_probs(TwoOutcomes::probs()); }
Tensor ContinuousBernoulli::logits() const { return TwoOutcomes::logits(); }

template <class Exact, class NearHalf>
Tensor ContinuousBernoulli::either(Exact exact, NearHalf near_half) const {
  const Tensor p = probs();
  const Tensor middle = p.gt(lims_.first).logical_and(p.le(lims_.second));
  // What is not taken gets no infinite gradient.
  return where(middle, near_half(p.sub(0.5)), exact(where(middle, full_like(p, lims_.first), p)));
}

Tensor ContinuousBernoulli::log_norm() const {
  return either([](const Tensor& p) { return logits_of_binary(p).div(p.mul(2).sub(1)).log(); },
                [](const Tensor& d) {
                  const Tensor x = d.square();
                  return x.mul(104.0 / 45).add(4.0 / 3).mul(x).add(std::numbers::ln2);
                });
}

Tensor ContinuousBernoulli::mean() const {
  return either(
      [](const Tensor& p) { return p.div(p.mul(2).sub(1)).sub(logits_of_binary(p).reciprocal()); },
      [](const Tensor& d) { return d.square().mul(16.0 / 45).add(1.0 / 3).mul(d).add(0.5); });
}

Tensor ContinuousBernoulli::variance() const {
  return either(
      [](const Tensor& p) {
        const Tensor slope = p.mul(p.sub(1)).div(p.mul(2).sub(1).square());
        return slope.add(logits_of_binary(p).square().reciprocal());
      },
      [](const Tensor& d) {
        const Tensor x = d.square();
        return x.mul(128.0 / 945).sub(1.0 / 15).mul(x).add(1.0 / 12);
      });
}

Tensor ContinuousBernoulli::cross_entropy(const Tensor& mean) const {
  return probs().neg().log1p().add(mean.mul(logits())).add(log_norm()).neg();
}

Tensor ContinuousBernoulli::log_density(const Tensor& value) const {
  return value.mul(logits()).sub(log1p_exp(logits())).add(log_norm());
}

Tensor ContinuousBernoulli::cumulative(const Tensor& value) const {
  const Tensor x = value.clamp(0, 1);
  return either(
      [&](const Tensor& p) {
        const Tensor q = p.neg().add(1);
        const Tensor grown = p.pow(x).mul(q.pow(x.neg().add(1)));
        return grown.sub(q).div(p.mul(2).sub(1));
      },
      [&](const Tensor& d) { return x.add(zeros_like(d)); });
}

Tensor ContinuousBernoulli::quantile(const Tensor& probability) const {
  return either(
      [&](const Tensor& p) {
        const Tensor start = p.neg().log1p();
        const Tensor end = p.mul(2).sub(1).mul(probability).sub(p).log1p();
        return end.sub(start).div(logits_of_binary(p));
      },
      [&](const Tensor& d) { return probability.add(zeros_like(d)); });
}

Tensor ContinuousBernoulli::draw(IntArrayRef shape, Generator* generator) const {
  return quantile(uniform_like(argument(0), shape, 0, 1, generator));
}

}  // namespace taeda::inline v0_2::distributions
