// The normal distribution of long vectors.
#pragma once

#include "taeda/distributions/normal.h"

namespace taeda::inline v0_2::distributions {

/// Normal vectors [..., n] with covariance `cov_factor` cov_factor^T + diag(`cov_diag`), of a
/// cov_factor [..., n, m] and a positive cov_diag [..., n]. Draws and densities take O(n m^2)
/// instead of O(n^3).
class LowRankMultivariateNormal : public DistributionOf<LowRankMultivariateNormal> {
 public:
  LowRankMultivariateNormal(Tensor loc, Tensor cov_factor, Tensor cov_diag,
                            Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& cov_factor() const { return argument(1); }
  const Tensor& cov_diag() const { return argument(2); }
  Tensor covariance_matrix() const;
  Tensor precision_matrix() const;
  Tensor scale_tril() const;
  /// The same distribution with the whole covariance, [..., d, d].
  MultivariateNormal dense() const;

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
  /// cov_factor^T / cov_diag, [..., m, n].
  Tensor weighted() const;
  /// The Cholesky factor of 1 + weighted() cov_factor, [..., m, m] (Woodbury's identity).
  Tensor capacitance() const;
  Tensor log_det() const;
};

}  // namespace taeda::inline v0_2::distributions
