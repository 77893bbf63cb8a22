// Distributions of counts and of yes or no.
#pragma once

#include "taeda/distributions/outcomes.h"

namespace taeda::inline v0_2::distributions {

/// 1 with probability `probs`, else 0.
class Bernoulli : public DistributionOf<Bernoulli, TwoOutcomes> {
 public:
  Bernoulli(Chances probs, Validate validate_args = {});

  Tensor entropy() const override;
  Tensor mean() const override { return probs(); }
  /// NaN for a probability of one half.
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::boolean(); }
  bool has_enumerate_support() const override { return true; }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor all_values() const override;
};

/// How many times 0 comes before the first 1 of Bernoulli numbers.
class Geometric : public DistributionOf<Geometric, TwoOutcomes> {
 public:
  Geometric(Chances probs, Validate validate_args = {});

  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::nonnegative_integer(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// How many of `total_count` Bernoulli numbers are 1.
class Binomial : public DistributionOf<Binomial, TwoOutcomes> {
 public:
  Binomial(Parameter total_count, Chances probs, Validate validate_args = {});
  const Tensor& total_count() const { return argument(0); }

  /// Throws NotImplementedError for total counts that differ.
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::integer_interval(0, total_count()); }
  bool has_enumerate_support() const override { return true; }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor all_values() const override;
};

/// How many Bernoulli numbers are 1 until `total_count` were 0. The count need not be a whole
/// number.
class NegativeBinomial : public DistributionOf<NegativeBinomial, TwoOutcomes> {
 public:
  NegativeBinomial(Parameter total_count, Chances probs, Validate validate_args = {});
  const Tensor& total_count() const { return argument(0); }

  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::nonnegative_integer(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// Poisson's distribution: how many events come in a unit of time, if `rate` do on
/// average.
class Poisson : public DistributionOf<Poisson> {
 public:
  Poisson(Parameter rate, Validate validate_args = {});
  const Tensor& rate() const { return argument(0); }

  Tensor mean() const override { return rate(); }
  Tensor mode() const override;
  Tensor variance() const override { return rate(); }
  Constraint support() const override { return constraints::nonnegative_integer(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// A number in (0, 1) that tends to a Bernoulli number as `temperature` goes to 0, differentiable
/// in its probability (Maddison et al., "The Concrete Distribution", 2017).
class RelaxedBernoulli : public DistributionOf<RelaxedBernoulli, TwoOutcomes> {
 public:
  RelaxedBernoulli(Parameter temperature, Chances probs, Validate validate_args = {});
  const Tensor& temperature() const { return argument(0); }

  bool has_rsample() const override { return true; }
  Constraint support() const override { return constraints::unit_interval(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

}  // namespace taeda::inline v0_2::distributions
