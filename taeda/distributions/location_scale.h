// Distributions of real numbers by a place and a width: uniform, Laplace, Cauchy, Gumbel.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Uniform in [low, high).
class Uniform : public DistributionOf<Uniform> {
 public:
  Uniform(Parameter low, Parameter high, Validate validate_args = {});
  const Tensor& low() const { return argument(0); }
  const Tensor& high() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  /// NaN: no value is likelier than another.
  Tensor mode() const override;
  Tensor variance() const override;
  Tensor stddev() const override;
  Constraint support() const override { return constraints::interval(low(), high()); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Laplace: exponential on both sides of `loc`, with mean distance `scale`.
class Laplace : public DistributionOf<Laplace> {
 public:
  Laplace(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override { return loc(); }
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Tensor stddev() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Cauchy (Lorentz), with median `loc` and half width at half height `scale`; without mean and
/// variance, which are NaN and inf.
class Cauchy : public DistributionOf<Cauchy> {
 public:
  Cauchy(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// The size of a Cauchy number with median 0.
class HalfCauchy : public DistributionOf<HalfCauchy> {
 public:
  HalfCauchy(Parameter scale, Validate validate_args = {});
  const Tensor& scale() const { return argument(0); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::nonnegative(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// Gumbel: the largest of many numbers, with mode `loc`.
class Gumbel : public DistributionOf<Gumbel> {
 public:
  Gumbel(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Tensor stddev() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

}  // namespace taeda::inline v0_2::distributions
