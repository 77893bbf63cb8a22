// Distributions of matrices.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Lower triangular factors L of correlation matrices L L^T of `dim` rows, whose density is
/// proportional to det(L L^T)^(concentration - 1): uniform over correlation matrices for a
/// concentration of 1 (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices
/// based on vines and extended onion method", 2009). Draws are made by its onion method.
class LKJCholesky : public DistributionOf<LKJCholesky> {
 public:
  /// Throws ValueError for a `dim` below 2.
  explicit LKJCholesky(int64_t dim, Parameter concentration = 1.0, Validate validate_args = {});
  int64_t dim() const { return event_shape()[0]; }
  const Tensor& concentration() const { return argument(0); }

  Constraint support() const override { return constraints::corr_cholesky(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;
};

/// Wishart: the sum of outer products of `df` normal vectors with covariance `covariance_matrix`
/// [..., p, p], for any df > p - 1. Draws are made by Bartlett's decomposition; those whose
/// rounding left them singular are drawn again, ten times at most.
class Wishart : public DistributionOf<Wishart> {
 public:
  Wishart(Parameter df, Tensor covariance_matrix, Validate validate_args = {});
  Wishart(Parameter df, Precision precision_matrix, Validate validate_args = {});
  Wishart(Parameter df, ScaleTril scale_tril, Validate validate_args = {});
  const Tensor& scale_tril() const { return argument(0); }
  const Tensor& df() const { return argument(1); }
  Tensor covariance_matrix() const;
  Tensor precision_matrix() const;

  bool has_rsample() const override { return true; }
  Tensor entropy() const override;
  Tensor mean() const override;
  /// NaN for df <= p + 1.
  Tensor mode() const override;
  Tensor variance() const override;
  Constraint support() const override { return constraints::positive_definite(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;

 private:
  int64_t p() const { return event_shape()[0]; }
  /// p / 2 log 2 and half the logarithm of the covariance's determinant.
  Tensor half_log_scale() const;
  Tensor draw_once(IntArrayRef samples, Generator* generator) const;
};

}  // namespace taeda::inline v0_2::distributions
