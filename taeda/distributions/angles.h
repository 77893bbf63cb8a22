// Distributions of angles.
#pragma once

#include "taeda/distributions/distribution.h"

namespace taeda::inline v0_2::distributions {

/// Von Mises: angles in radians around `loc`, nearly normal with variance 1 / concentration where
/// that is small. `mean` and `variance` are the circular ones. Draws lie in [-pi, pi).
class VonMises : public DistributionOf<VonMises> {
 public:
  VonMises(Parameter loc, Parameter concentration, Validate validate_args = {});
  const Tensor& loc() const { return argument(0); }
  const Tensor& concentration() const { return argument(1); }

  Tensor entropy() const override;
  Tensor mean() const override { return loc(); }
  Tensor mode() const override { return loc(); }
  Tensor variance() const override;
  Constraint support() const override { return constraints::real(); }

 protected:
  Tensor draw(IntArrayRef shape, Generator* generator) const override;
  Tensor log_density(const Tensor& value) const override;

 private:
  /// The mean of cos(x - loc).
  Tensor resultant() const;
  /// The logarithm of the density's integral without its factor, at a peak of height 1.
  Tensor log_integral() const;
};

}  // namespace taeda::inline v0_2::distributions
