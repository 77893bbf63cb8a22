// Normal distributions and what is made of them.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Normal (Gaussian) distributions with mean `loc` and standard deviation `scale`.
class Normal : public DistributionOf<Normal> {
 public:
  Normal(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override { return loc(); }
  Tensor mode() const override { return loc(); }
  Tensor stddev() const override { return scale(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
  Tensor cumulative(const Tensor& value) const override;
  Tensor quantile(const Tensor& probability) const override;
};

/// exp of a normal number with mean `loc` and standard deviation `scale`.
class LogNormal : public DistributionOf<LogNormal> {
 public:
  LogNormal(Parameter loc, Parameter scale, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& scale() const { return argument(1); }
  /// The distribution of the logarithm, of the same batch_shape.
  Normal base() const { return Normal(loc(), scale(), false); }

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

/// The size of a normal number with mean 0.
class HalfNormal : public DistributionOf<HalfNormal> {
 public:
  HalfNormal(Parameter scale, Validate validate_args = {});
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

/// Vectors of normal numbers with mean `loc` [..., d] and a covariance [..., d, d], which is given
/// itself, by its lower triangular factor or by its inverse.
class MultivariateNormal : public DistributionOf<MultivariateNormal> {
 public:
  MultivariateNormal(Tensor loc, Tensor covariance_matrix, Validate validate_args = {});
  MultivariateNormal(Tensor loc, ScaleTril scale_tril, Validate validate_args = {});
  MultivariateNormal(Tensor loc, Precision precision_matrix, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  /// The lower triangular L of the covariance L L^T, the covariance and its inverse, [..., d, d]
  /// each.
  const Tensor& scale_tril() const { return argument(1); }
  Tensor covariance_matrix() const;
  Tensor precision_matrix() const;

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override { return loc(); }
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::real_vector(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;

 private:
  /// Half the logarithm of the covariance's determinant.
  Tensor half_log_det() const;
};

}  // namespace taeda::inline v0_2::distributions
