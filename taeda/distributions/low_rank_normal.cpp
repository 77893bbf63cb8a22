#include "taeda/distributions/low_rank_normal.h"

#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

/// The factor, once all shapes fit.
Tensor fitting(const Tensor& loc, const Tensor& factor, const Tensor& diag) {
  TAEDA_CHECK_VALUE(loc.dim() >= 1, "loc must be at least one-dimensional.");
  TAEDA_CHECK_VALUE(factor.dim() >= 2,
                    "cov_factor must be at least two-dimensional, with optional leading batch "
                    "dimensions, but has shape ",
                    factor.sizes());
  TAEDA_CHECK_VALUE(factor.size(-2) == loc.size(-1),
                    "cov_factor must be a batch of matrices with shape ", loc.size(-1),
                    " x m, but has shape ", factor.sizes());
  TAEDA_CHECK_VALUE(diag.dim() >= 1 && diag.size(-1) == loc.size(-1),
                    "cov_diag must be a batch of vectors with shape [", loc.size(-1),
                    "], but has shape ", diag.sizes());
  return factor;
}

/// 1 + m, of square matrices.
Tensor identity_plus(const Tensor& m) {
  return m.add(eye(m.size(-1), m.options().requires_grad(false)));
}

}  // namespace

LowRankMultivariateNormal::LowRankMultivariateNormal(Tensor loc, Tensor cov_factor, Tensor cov_diag,
                                                     Validate validate_args)
    : DistributionOf(
          "LowRankMultivariateNormal",
          {{"loc", loc, constraints::real_vector()},
           {"cov_factor", fitting(loc, cov_factor, cov_diag), constraints::real().independent(2)},
           {"cov_diag", cov_diag, constraints::positive().independent(1)}},
          validate_args, 1) {}

Tensor LowRankMultivariateNormal::weighted() const {
  return cov_factor().transpose(-2, -1).div(cov_diag().unsqueeze(-2));
}

Tensor LowRankMultivariateNormal::capacitance() const {
  return linalg::cholesky(identity_plus(weighted().matmul(cov_factor())));
}

Tensor LowRankMultivariateNormal::log_det() const {
  return capacitance().diagonal(0, -2, -1).log().sum({-1}).mul(2).add(cov_diag().log().sum({-1}));
}

Tensor LowRankMultivariateNormal::covariance_matrix() const {
  return cov_factor().matmul(cov_factor().transpose(-2, -1)).add(cov_diag().diag_embed());
}

Tensor LowRankMultivariateNormal::precision_matrix() const {
  const Tensor a = linalg::solve_triangular(capacitance(), weighted(), false);
  return cov_diag().reciprocal().diag_embed().sub(a.transpose(-2, -1).matmul(a));
}

/// Of the covariance divided by the roots of cov_diag on both sides, whose eigenvalues are 1 and
/// more.
Tensor LowRankMultivariateNormal::scale_tril() const {
  const Tensor root = cov_diag().sqrt().unsqueeze(-1), scaled = cov_factor().div(root);
  return linalg::cholesky(identity_plus(scaled.matmul(scaled.transpose(-2, -1)))).mul(root);
}

MultivariateNormal LowRankMultivariateNormal::dense() const {
  return MultivariateNormal(loc(), ScaleTril(scale_tril()), false);
}

Tensor LowRankMultivariateNormal::variance() const {
  return cov_factor().square().sum({-1}).add(cov_diag());
}

Tensor LowRankMultivariateNormal::entropy() const {
  const auto n = static_cast<double>(event_shape()[0]);
  return log_det().add(n * (1 + std::log(2 * std::numbers::pi))).mul(0.5);
}

Tensor LowRankMultivariateNormal::draw(IntArrayRef shape, Generator* generator) const {
  DimVector of_factor(shape.slice(0, shape.size() - 1));
  of_factor.push_back(cov_factor().size(-1));
  const Tensor common = standard_normal(loc(), of_factor, generator).unsqueeze(-1);
  const Tensor own = standard_normal(loc(), shape, generator);
  return cov_factor().matmul(common).squeeze(-1).add(cov_diag().sqrt().mul(own)).add(loc());
}

Tensor LowRankMultivariateNormal::log_density(const Tensor& value) const {
  const Tensor distance = value.sub(loc());
  const Tensor through = weighted().matmul(distance.unsqueeze(-1));
  const Tensor explained = linalg::solve_triangular(capacitance(), through, false).squeeze(-1);
  const Tensor square =
      distance.square().div(cov_diag()).sum({-1}).sub(explained.square().sum({-1}));
  const auto n = static_cast<double>(event_shape()[0]);
  return square.add(log_det()).add(n * std::log(2 * std::numbers::pi)).mul(-0.5);
}

}  // namespace taeda::inline v0_2::distributions
