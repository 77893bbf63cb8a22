// A distribution of numbers between no and yes.
#pragma once

#include <utility>

#include "taeda/distributions/outcomes.h"

namespace taeda::inline v0_2::distributions {

/// Numbers in [0, 1] whose density at x is proportional to p^x (1 - p)^(1 - x): `probs` is not the
/// mean (Loaiza-Ganem and Cunningham, "The continuous Bernoulli: fixing a pervasive error in
/// variational autoencoders", 2019). Between `lims`, around one half, where its formulas are 0 / 0,
/// series take their place.
class ContinuousBernoulli : public DistributionOf<ContinuousBernoulli, TwoOutcomes> {
 public:
  using Limits = std::pair<double, double>;
  ContinuousBernoulli(Chances probs, Limits lims = {0.499, 0.501}, Validate validate_args = {});

  /// The probability, brought to between epsilon and 1 - epsilon, and its log-odds, of batch_shape.
  Tensor probs() const;
  Tensor logits() const;
  /// The mean of -log q(x) over a distribution with mean `mean`, for q this one.
  Tensor cross_entropy(const Tensor& mean) const;

  bool has_rsample() const override { return true; }
  Tensor entropy() const override { return cross_entropy(mean()); }
  Tensor mean() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::unit_interval(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;

 private:
  /// exact(p) away from one half, near_half(p - 0.5) close to it.
  template <class Exact, class NearHalf>
  Tensor either(Exact exact, NearHalf near_half) const;
  /// The logarithm of what makes the density's integral 1.
  Tensor log_norm() const;
  Limits lims_;
};

}  // namespace taeda::inline v0_2::distributions
