// Distributions of positive numbers, and of those in an interval or beyond a threshold, by powers
// and logarithms of simpler ones.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// The exponential distribution: the time to the next of events that come `rate` times in a
/// unit of time.
class Exponential : public DistributionOf<Exponential> {
 public:
  Exponential(Parameter rate, Validate validate_args = {});
  const Tensor& rate() const { return argument(0); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Tensor stddev() const override;
  Constraint support() const override { return constraints::nonnegative(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Weibull: `scale` times an exponential number to the power of 1 / concentration.
class Weibull : public DistributionOf<Weibull> {
 public:
  Weibull(Parameter scale, Parameter concentration, Validate validate_args = {});
  const Tensor& scale() const { return argument(0); }
  const Tensor& concentration() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::positive(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Pareto: numbers from `scale` on, whose logarithm is exponential with rate `alpha`.
class Pareto : public DistributionOf<Pareto> {
 public:
  Pareto(Parameter scale, Parameter alpha, Validate validate_args = {});
  const Tensor& scale() const { return argument(0); }
  const Tensor& alpha() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override { return scale(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::greater_than_eq(scale()); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Generalized Pareto: what exceeds a high threshold `loc`. Exponential for a concentration of 0, a
/// power's tail above, bounded by loc - scale / concentration below.
class GeneralizedPareto : public DistributionOf<GeneralizedPareto> {
 public:
  GeneralizedPareto(Parameter loc, Parameter scale, Parameter concentration,
                    Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }
  const Tensor& concentration() const { return argument(2); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  /// NaN for concentrations from 1 on.
  Tensor mean() const override;
  Tensor mode() const override { return loc(); }
  /// NaN for concentrations from 1/2 on.
  Tensor variance() const override;
  Constraint support() const override;

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;

 private:
  /// What P(x > value) is exp of: -log(1 + concentration z) / concentration, z = (value - loc) /
  /// scale.
  Tensor log_survival(const Tensor& value) const;
  Tensor is_exponential() const;
  /// The concentration, 1 instead of 0.
  Tensor divisor() const;
};

/// Kumaraswamy: numbers in (0, 1) much like Beta's, with a closed cdf.
class Kumaraswamy : public DistributionOf<Kumaraswamy> {
 public:
  Kumaraswamy(Parameter concentration1, Parameter concentration0, Validate validate_args = {});
  const Tensor& concentration1() const { return argument(0); }
  const Tensor& concentration0() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::unit_interval(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;

 private:
  /// The mean of the n-th power.
  Tensor moment(int n) const;
};

}  // namespace taeda::inline v0_2::distributions
