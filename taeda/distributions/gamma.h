// Distributions made of gamma numbers.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Gamma with shape `concentration` and `rate`, the inverse of a scale.
class Gamma : public DistributionOf<Gamma> {
 public:
  Gamma(Parameter concentration, Parameter rate, Validate validate_args = {});
  const Tensor& concentration() const { return argument(0); }
  const Tensor& rate() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::nonnegative(); }

 protected:
  Gamma(std::string name, Parameter concentration, Parameter rate, Validate validate_args);
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
};

/// The chi-squared distribution, Gamma(df / 2, 1 / 2).
class Chi2 : public DistributionOf<Chi2, Gamma> {
 public:
  Chi2(Parameter df, Validate validate_args = {});
  Tensor df() const;
};

/// One over a gamma number.
class InverseGamma : public DistributionOf<InverseGamma> {
 public:
  InverseGamma(Parameter concentration, Parameter rate, Validate validate_args = {});
  const Tensor& concentration() const { return argument(0); }
  const Tensor& rate() const { return argument(1); }

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
};

/// Dirichlet: vectors of weights that add up to 1, with concentrations [..., k].
class Dirichlet : public DistributionOf<Dirichlet> {
 public:
  Dirichlet(Tensor concentration, Validate validate_args = {});
  const Tensor& concentration() const { return argument(0); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::simplex(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// Beta: numbers in (0, 1), the first of two weights of a Dirichlet.
class Beta : public DistributionOf<Beta> {
 public:
  Beta(Parameter concentration1, Parameter concentration0, Validate validate_args = {});
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

 private:
  /// Of both concentrations, in a last dimension.
  Dirichlet both() const;
};

/// Student's t with `df` degrees of freedom. The mean is NaN for df up to 1; the variance is NaN
/// there and inf up to 2.
class StudentT : public DistributionOf<StudentT> {
 public:
  StudentT(Parameter df, Parameter loc = 0, Parameter scale = 1, Validate validate_args = {});
  const Tensor& df() const { return argument(0); }
  const Tensor& loc() const { return argument(1); }
  const Tensor& scale() const { return argument(2); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// Fisher and Snedecor's F: the ratio of two chi-squared numbers, each by its degrees of freedom.
class FisherSnedecor : public DistributionOf<FisherSnedecor> {
 public:
  FisherSnedecor(Parameter df1, Parameter df2, Validate validate_args = {});
  const Tensor& df1() const { return argument(0); }
  const Tensor& df2() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor mean() const override;
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::positive(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

}  // namespace taeda::inline v0_2::distributions
