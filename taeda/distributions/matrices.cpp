#include "taeda/distributions/matrices.h"

#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/gamma.h"
#include "taeda/distributions/normal.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

LKJCholesky::LKJCholesky(int64_t dim, Parameter concentration, Validate validate_args)
    : DistributionOf("LKJCholesky",
                     {{"concentration", std::move(concentration), constraints::positive()}},
                     validate_args) {
  TAEDA_CHECK_VALUE(
      dim >= 2, "Expected dim to be an integer greater than or equal to 2. Found dim=", dim, ".");
  set_shapes(batch_shape(), {dim, dim});
}

/// Row i is a direction of i normal numbers, whose squared length is a beta number.
Tensor LKJCholesky::draw(IntArrayRef shape, Generator* generator) const {
  const IntArrayRef samples = shape.slice(0, shape.size() - batch_shape().size() - 2);
  const auto options = concentration().options().requires_grad(false);
  const Tensor before = arange(dim() - 1, options);
  const Tensor halves = cat({zeros({1}, options), before}, 0).mul(0.5);
  const Tensor rest = concentration().unsqueeze(-1).add(0.5 * static_cast<double>(dim() - 2));
  const Beta lengths(halves.add(0.5), rest.sub(halves), false);
  const Tensor square = lengths.sample(samples, generator).unsqueeze(-1);
  const Tensor noise = standard_normal(concentration(), shape, generator).tril(-1);
  const double tiny = tiny_of(concentration().dtype());
  const Tensor norm = noise.square().sum({-1}, true).sqrt().clamp_min(tiny);
  const Tensor below = noise.div(norm).mul(square.sqrt());
  const Tensor diagonal = below.square().sum({-1}).neg().add(1).clamp_min(tiny).sqrt();
  return below.add(diagonal.diag_embed());
}

Tensor LKJCholesky::log_density(const Tensor& value) const {
  const Tensor diagonal = value.diagonal(0, -2, -1).narrow(-1, 1, dim() - 1);
  const Tensor rows_below = arange(dim() - 2, -1, -1, concentration().options());
  const Tensor order = concentration().sub(1).mul(2).unsqueeze(-1).add(rows_below);
  const auto n = static_cast<double>(dim() - 1);
  const Tensor alpha = concentration().add(0.5 * n);
  const Tensor log_integral = special::multigammaln(alpha.sub(0.5), dim() - 1)
                                  .sub(alpha.lgamma().mul(n))
                                  .add(0.5 * n * std::log(std::numbers::pi));
  return order.mul(diagonal.log()).sum({-1}).sub(log_integral);
}

namespace {

/// As MultivariateNormal takes it.
Tensor tril_of(const Tensor& matrix, auto as) {
  TAEDA_CHECK_VALUE(matrix.dim() >= 2,
                    "Wishart: the matrix must be at least two-dimensional, with "
                    "optional leading batch dimensions, but has shape ",
                    matrix.sizes());
  const Tensor loc = zeros({matrix.size(-1)}, matrix.options().requires_grad(false));
  return MultivariateNormal(loc, as(matrix)).scale_tril();
}

Parameter above(Parameter df, int64_t least) {
  const bool enough = df.is_number() ? df.number() > static_cast<double>(least)
                                     : taeda::detail::every(df.tensor().gt(least));
  TAEDA_CHECK_VALUE(enough, "Value of df=", df.is_number() ? full({}, df.number()) : df.tensor(),
                    " expected to be greater than ndim - 1 = ", least, ".");
  return df;
}

Tensor as_matrix(const Tensor& of_batch) { return of_batch.unsqueeze(-1).unsqueeze(-1); }

}  // namespace

Wishart::Wishart(Parameter df, ScaleTril scale_tril, Validate validate_args)
    : DistributionOf(
          "Wishart",
          {{"scale_tril", tril_of(scale_tril.value, [](Tensor t) { return ScaleTril(t); }),
            constraints::lower_cholesky()},
           {"df", above(std::move(df), scale_tril.value.size(-1) - 1),
            constraints::greater_than(0)}},
          validate_args, 2) {}

Wishart::Wishart(Parameter df, Tensor covariance_matrix, Validate validate_args)
    : Wishart(std::move(df), ScaleTril(tril_of(covariance_matrix, [](Tensor t) { return t; })),
              validate_args) {}

Wishart::Wishart(Parameter df, Precision precision_matrix, Validate validate_args)
    : Wishart(std::move(df),
              ScaleTril(tril_of(precision_matrix.value, [](Tensor t) { return Precision(t); })),
              validate_args) {}

Tensor Wishart::covariance_matrix() const {
  return scale_tril().matmul(scale_tril().transpose(-2, -1));
}
Tensor Wishart::precision_matrix() const { return cholesky_inverse(scale_tril()); }
Tensor Wishart::mean() const { return as_matrix(df()).mul(covariance_matrix()); }

Tensor Wishart::mode() const {
  const Tensor factor = df().sub(p() + 1);
  return as_matrix(factor.masked_fill(factor.le(0), NAN)).mul(covariance_matrix());
}

Tensor Wishart::variance() const {
  const Tensor covariance = covariance_matrix(), own = covariance.diagonal(0, -2, -1);
  const Tensor products = own.unsqueeze(-1).mul(own.unsqueeze(-2));
  return as_matrix(df()).mul(covariance.square().add(products));
}

Tensor Wishart::half_log_scale() const {
  const Tensor half_log_det = scale_tril().diagonal(0, -2, -1).log().sum({-1});
  return half_log_det.add(0.5 * std::numbers::ln2 * static_cast<double>(p()));
}

Tensor Wishart::entropy() const {
  const Tensor half = df().mul(0.5);
  const Tensor steps = arange(p(), df().options().requires_grad(false)).mul(0.5);
  const Tensor digammas = half.unsqueeze(-1).sub(steps).digamma().sum({-1});
  const Tensor slope = half.sub(0.5 * static_cast<double>(p() + 1)).mul(digammas);
  return half_log_scale()
      .mul(p() + 1)
      .add(special::multigammaln(half, p()))
      .sub(slope)
      .add(half.mul(p()));
}

Tensor Wishart::log_density(const Tensor& value) const {
  const Tensor half = df().mul(0.5);
  const Tensor log_det = std::get<1>(linalg::slogdet(value));
  const Tensor trace = cholesky_solve(value, scale_tril()).diagonal(0, -2, -1).sum({-1});
  return half.sub(0.5 * static_cast<double>(p() + 1))
      .mul(log_det)
      .sub(df().mul(half_log_scale()))
      .sub(special::multigammaln(half, p()))
      .sub(trace.mul(0.5));
}

Tensor Wishart::draw_once(IntArrayRef samples, Generator* generator) const {
  const auto options = df().options().requires_grad(false);
  const Chi2 lengths(df().unsqueeze(-1).sub(arange(p(), options)), false);
  const Tensor root = lengths.rsample(samples, generator).sqrt();
  DimVector flat(samples);
  for (const int64_t size : batch_shape()) flat.push_back(size);
  DimVector count(flat), square(flat);
  flat.push_back(p() * p());
  count.push_back(p() * (p() - 1) / 2);
  square.push_back(p());
  square.push_back(p());
  const Tensor below = tril_indices(p(), p(), -1, kLong).to(df().device());
  const Tensor place = below.select(0, 0).mul(p()).add(below.select(0, 1));
  const Tensor noise = standard_normal(df(), count, generator);
  const Tensor lower = zeros(flat, options).index_copy(-1, place, noise).view(square);
  const Tensor factor = lower.add(root.clamp_min(epsilon_of(df().dtype())).diag_embed());
  const Tensor cholesky = scale_tril().matmul(factor);
  return cholesky.matmul(cholesky.transpose(-2, -1));
}

/// Smith and Hocking, "Algorithm AS 53: Wishart variate generator" (1972), by Bartlett's
/// decomposition.
Tensor Wishart::draw(IntArrayRef shape, Generator* generator) const {
  const IntArrayRef samples = shape.slice(0, shape.size() - batch_shape().size() - 2);
  Tensor result = draw_once(samples, generator);
  for (int tries = 0; tries < 10; ++tries) {
    const Tensor regular = support().check(result);
    if (taeda::detail::every(regular)) break;
    result = where(as_matrix(regular), result, draw_once(samples, generator));
  }
  return result;
}

}  // namespace taeda::inline v0_2::distributions
