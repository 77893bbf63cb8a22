#include "taeda/distributions/normal.h"

#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

const double kHalfLogTwoPi = 0.5 * std::log(2 * std::numbers::pi);

}  // namespace

Normal::Normal(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("Normal",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor Normal::variance() const { return scale().square(); }
Tensor Normal::entropy() const { return scale().log().add(0.5 + kHalfLogTwoPi); }

Tensor Normal::draw(IntArrayRef shape, Generator* generator) const {
  return standard_normal(loc(), shape, generator).mul(scale()).add(loc());
}

Tensor Normal::log_density(const Tensor& value) const {
  const Tensor z = value.sub(loc()).div(scale());
  return z.square().mul(-0.5).sub(scale().log()).sub(kHalfLogTwoPi);
}

Tensor Normal::cumulative(const Tensor& value) const {
  return value.sub(loc()).div(scale().mul(-std::numbers::sqrt2)).erfc().mul(0.5);
}

Tensor Normal::quantile(const Tensor& probability) const {
  return probability.mul(2).sub(1).erfinv().mul(scale()).mul(std::numbers::sqrt2).add(loc());
}

LogNormal::LogNormal(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("LogNormal",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor LogNormal::entropy() const { return base().entropy().add(loc()); }
Tensor LogNormal::mean() const { return scale().square().mul(0.5).add(loc()).exp(); }
Tensor LogNormal::mode() const { return loc().sub(scale().square()).exp(); }

Tensor LogNormal::variance() const {
  const Tensor square = scale().square();
  return square.expm1().mul(loc().mul(2).add(square).exp());
}

Tensor LogNormal::draw(IntArrayRef shape, Generator* generator) const {
  return standard_normal(loc(), shape, generator).mul(scale()).add(loc()).exp();
}

Tensor LogNormal::log_density(const Tensor& value) const {
  const Tensor logarithm = value.log();
  return base().log_prob(logarithm).sub(logarithm);
}

Tensor LogNormal::cumulative(const Tensor& value) const { return base().cdf(value.log()); }
Tensor LogNormal::quantile(const Tensor& probability) const {
  return base().icdf(probability).exp();
}

HalfNormal::HalfNormal(Parameter scale, Validate validate_args)
    : DistributionOf("HalfNormal", {{"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor HalfNormal::entropy() const {
  return scale().log().add(0.5 + kHalfLogTwoPi - std::numbers::ln2);
}
Tensor HalfNormal::mean() const { return scale().mul(std::sqrt(2 / std::numbers::pi)); }
Tensor HalfNormal::mode() const { return zeros_like(scale()); }
Tensor HalfNormal::variance() const { return scale().square().mul(1 - 2 / std::numbers::pi); }

Tensor HalfNormal::draw(IntArrayRef shape, Generator* generator) const {
  return standard_normal(scale(), shape, generator).mul(scale()).abs();
}

Tensor HalfNormal::log_density(const Tensor& value) const {
  const Tensor density = Normal(0, scale(), false).log_prob(value).add(std::numbers::ln2);
  return where_inside(value.ge(0), density);
}

Tensor HalfNormal::cumulative(const Tensor& value) const {
  return value.div(scale().mul(std::numbers::sqrt2)).erf();
}

Tensor HalfNormal::quantile(const Tensor& probability) const {
  return probability.erfinv().mul(scale()).mul(std::numbers::sqrt2);
}

namespace {

/// The lower triangular L with L L^T = P^-1. The factor of P with rows and columns reversed,
/// reversed again, is an upper triangular U with U U^T = P; L is U^-T.
Tensor tril_of_precision(const Tensor& precision) {
  const Tensor reversed = linalg::cholesky(precision.flip({-2, -1})).flip({-2, -1});
  const Tensor identity =
      eye(precision.size(-1), precision.options().requires_grad(false)).expand(precision.sizes());
  return linalg::solve_triangular(reversed.transpose(-2, -1), identity, false);
}

void check_mean(const Tensor& loc, const Tensor& matrix, const char* name) {
  TAEDA_CHECK_VALUE(loc.dim() >= 1, "loc must be at least one-dimensional.");
  TAEDA_CHECK_VALUE(matrix.dim() >= 2, name,
                    " must be at least two-dimensional, with optional leading "
                    "batch dimensions, but has shape ",
                    matrix.sizes());
  TAEDA_CHECK_VALUE(matrix.size(-1) == loc.size(-1) && matrix.size(-2) == loc.size(-1), name,
                    " of shape ", matrix.sizes(), " does not fit loc of shape ", loc.sizes());
}

/// Checks a matrix before it is factored, so that the message names it.
Tensor checked(const Tensor& loc, Tensor matrix, const char* name,
               std::optional<bool> validate_args) {
  check_mean(loc, matrix, name);
  const Constraint constraint = constraints::positive_definite();
  if (validate_args.value_or(Distribution::default_validate_args()))
    TAEDA_CHECK_VALUE(taeda::detail::every(constraint.check(matrix)), "Expected parameter ", name,
                      " (Tensor of shape ", shape_text(matrix.sizes()),
                      ") of distribution MultivariateNormal to "
                      "satisfy the constraint ",
                      constraint.str(), ", but found invalid values:\n", value_text(matrix));
  return matrix;
}

}  // namespace

MultivariateNormal::MultivariateNormal(Tensor loc, ScaleTril scale_tril, Validate validate_args)
    : DistributionOf(
          "MultivariateNormal",
          {{"loc", loc, constraints::real_vector()},
           {"scale_tril", (check_mean(loc, scale_tril.value, "scale_tril"), scale_tril.value),
            constraints::lower_cholesky()}},
          validate_args, 1) {}

MultivariateNormal::MultivariateNormal(Tensor loc, Tensor covariance_matrix, Validate validate_args)
    : MultivariateNormal(loc,
                         ScaleTril(linalg::cholesky(
                             checked(loc, covariance_matrix, "covariance_matrix", validate_args))),
                         validate_args) {}

MultivariateNormal::MultivariateNormal(Tensor loc, Precision precision_matrix,
                                       Validate validate_args)
    : MultivariateNormal(loc,
                         ScaleTril(tril_of_precision(checked(loc, precision_matrix.value,
                                                             "precision_matrix", validate_args))),
                         validate_args) {}

Tensor MultivariateNormal::covariance_matrix() const {
  return scale_tril().matmul(scale_tril().transpose(-2, -1));
}

Tensor MultivariateNormal::precision_matrix() const { return cholesky_inverse(scale_tril()); }
Tensor MultivariateNormal::variance() const { return scale_tril().square().sum({-1}); }

Tensor MultivariateNormal::half_log_det() const {
  return scale_tril().diagonal(0, -2, -1).log().sum({-1});
}

Tensor MultivariateNormal::entropy() const {
  const auto d = static_cast<double>(event_shape()[0]);
  return half_log_det().add(d * (0.5 + kHalfLogTwoPi));
}

Tensor MultivariateNormal::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor noise = standard_normal(loc(), shape, generator);
  return scale_tril().matmul(noise.unsqueeze(-1)).squeeze(-1).add(loc());
}

Tensor MultivariateNormal::log_density(const Tensor& value) const {
  const Tensor distance = value.sub(loc()).unsqueeze(-1);
  const Tensor z = linalg::solve_triangular(scale_tril(), distance, false).squeeze(-1);
  const auto d = static_cast<double>(event_shape()[0]);
  return z.square().sum({-1}).mul(-0.5).sub(half_log_det()).sub(d * kHalfLogTwoPi);
}

}  // namespace taeda::inline v0_2::distributions
