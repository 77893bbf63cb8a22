// Divergences of two distributions of one class with a density.
#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/combined.h"
#include "taeda/distributions/gamma.h"
#include "taeda/distributions/kl_formulas.h"
#include "taeda/distributions/location_scale.h"
#include "taeda/distributions/low_rank_normal.h"
#include "taeda/distributions/normal.h"
#include "taeda/distributions/positive.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

Tensor of_normals(const Normal& p, const Normal& q) {
  const Tensor ratio = p.scale().div(q.scale()).square();
  const Tensor distance = p.loc().sub(q.loc()).div(q.scale()).square();
  return ratio.add(distance).sub(1).sub(ratio.log()).mul(0.5);
}

Tensor of_log_normals(const LogNormal& p, const LogNormal& q) {
  return of_normals(p.base(), q.base());
}

Tensor of_half_normals(const HalfNormal& p, const HalfNormal& q) {
  return of_normals(Normal(0, p.scale(), false), Normal(0, q.scale(), false));
}

Tensor of_multivariate_normals(const MultivariateNormal& p, const MultivariateNormal& q) {
  TAEDA_CHECK_VALUE(p.event_shape() == q.event_shape(),
                    "KL-divergence between two Multivariate Normals with "
                    "different event shapes cannot be computed: ",
                    p.event_shape(), " and ", q.event_shape());
  const Tensor& l = q.scale_tril();
  const DimVector batch = broadcast_sizes(p.batch_shape(), q.batch_shape());
  const auto whole = [&](const Tensor& t) {
    DimVector shape(batch);
    shape.push_back(t.size(-2));
    shape.push_back(t.size(-1));
    return t.expand(shape);
  };
  const Tensor factor = whole(l);
  const Tensor spread = linalg::solve_triangular(factor, whole(p.scale_tril()), false);
  const Tensor distance =
      linalg::solve_triangular(factor, whole(q.loc().sub(p.loc()).unsqueeze(-1)), false);
  const auto log_det = [](const Tensor& t) { return t.diagonal(0, -2, -1).log().sum({-1}); };
  const Tensor squares = spread.square().sum({-2, -1}).add(distance.square().sum({-2, -1}));
  const auto d = static_cast<double>(p.event_shape()[0]);
  return log_det(l).sub(log_det(p.scale_tril())).add(squares.sub(d).mul(0.5));
}

const MultivariateNormal& dense(const MultivariateNormal& p) { return p; }
MultivariateNormal dense(const LowRankMultivariateNormal& p) { return p.dense(); }

template <class P, class Q>
void of_whole_covariances(Divergences& all) {
  all.add<P, Q>([](const P& p, const Q& q) { return of_multivariate_normals(dense(p), dense(q)); });
}

Tensor of_laplaces(const Laplace& p, const Laplace& q) {
  const Tensor ratio = p.scale().div(q.scale()), distance = p.loc().sub(q.loc()).abs();
  const Tensor decay = distance.div(p.scale()).neg().exp();
  return ratio.log().neg().add(distance.div(q.scale())).add(ratio.mul(decay)).sub(1);
}

Tensor of_uniforms(const Uniform& p, const Uniform& q) {
  const Tensor result = q.high().sub(q.low()).div(p.high().sub(p.low())).log();
  return result.masked_fill(q.low().gt(p.low()).logical_or(q.high().lt(p.high())), INFINITY);
}

/// Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy
/// distributions" (2019).
Tensor of_cauchys(const Cauchy& p, const Cauchy& q) {
  const Tensor apart = p.scale().add(q.scale()).square().add(p.loc().sub(q.loc()).square());
  return apart.log().sub(p.scale().mul(q.scale()).mul(4).log());
}

Tensor of_half_cauchys(const HalfCauchy& p, const HalfCauchy& q) {
  return of_cauchys(Cauchy(0, p.scale(), false), Cauchy(0, q.scale(), false));
}

Tensor of_gumbels(const Gumbel& p, const Gumbel& q) {
  const Tensor ratio = p.scale().div(q.scale());
  const Tensor place = q.loc().div(q.scale()), own = p.loc().div(q.scale());
  const Tensor first = ratio.log().neg().sub(place).add(own);
  const Tensor second = ratio.sub(1).mul(std::numbers::egamma);
  const Tensor third = place.add(ratio.add(1).lgamma()).sub(own).exp();
  return first.add(second).add(third).sub(1);
}

Tensor of_exponentials(const Exponential& p, const Exponential& q) {
  const Tensor ratio = q.rate().div(p.rate());
  return ratio.sub(ratio.log()).sub(1);
}

/// Bauckhage, "Computing the Kullback-Leibler divergence between two Weibull distributions" (2013).
Tensor of_weibulls(const Weibull& p, const Weibull& q) {
  const Tensor &k = p.concentration(), &l = q.concentration();
  const auto log_factor = [](const Tensor& concentration, const Tensor& scale) {
    return concentration.log().sub(concentration.mul(scale.log()));
  };
  const Tensor mean_log = p.scale().log().sub(k.reciprocal().mul(std::numbers::egamma));
  const Tensor power = p.scale().div(q.scale()).pow(l).mul(l.div(k).add(1).lgamma().exp());
  return log_factor(k, p.scale())
      .sub(log_factor(l, q.scale()))
      .add(k.sub(l).mul(mean_log))
      .add(power)
      .sub(1);
}

Tensor of_paretos(const Pareto& p, const Pareto& q) {
  const Tensor scales = p.scale().div(q.scale()), alphas = q.alpha().div(p.alpha());
  const Tensor result = q.alpha().mul(scales.log()).sub(alphas.log()).add(alphas).sub(1);
  return result.masked_fill(p.scale().lt(q.scale()), INFINITY);
}

Tensor of_gammas(const Gamma& p, const Gamma& q) {
  const Tensor &a = p.concentration(), &b = q.concentration();
  const Tensor first = b.mul(p.rate().div(q.rate()).log()).add(b.lgamma()).sub(a.lgamma());
  const Tensor second = a.sub(b).mul(a.digamma()).add(q.rate().sub(p.rate()).mul(a.div(p.rate())));
  return first.add(second);
}

Tensor of_inverse_gammas(const InverseGamma& p, const InverseGamma& q) {
  return of_gammas(Gamma(p.concentration(), p.rate(), false),
                   Gamma(q.concentration(), q.rate(), false));
}

Tensor of_dirichlets(const Dirichlet& p, const Dirichlet& q) {
  const Tensor &a = p.concentration(), &b = q.concentration();
  const Tensor total = a.sum({-1}, true);
  const Tensor constants = total.squeeze(-1).lgamma().sub(b.sum({-1}).lgamma());
  const Tensor each =
      b.lgamma().sub(a.lgamma()).add(a.sub(b).mul(a.digamma().sub(total.digamma())));
  return constants.add(each.sum({-1}));
}

Tensor of_betas(const Beta& p, const Beta& q) {
  const Tensor of_p = p.concentration1().add(p.concentration0());
  const Tensor of_q = q.concentration1().add(q.concentration0());
  const auto side = [](const Tensor& a, const Tensor& b) {
    return b.lgamma().sub(a.lgamma()).add(a.sub(b).mul(a.digamma()));
  };
  return side(p.concentration1(), q.concentration1())
      .add(side(p.concentration0(), q.concentration0()))
      .add(of_p.lgamma())
      .sub(of_q.lgamma())
      .add(of_q.sub(of_p).mul(of_p.digamma()));
}

Tensor of_independents(const Independent& p, const Independent& q) {
  TAEDA_CHECK_NOT_IMPLEMENTED(p.reinterpreted_batch_ndims() == q.reinterpreted_batch_ndims(),
                              "No KL(p || q) is implemented for Independent with ",
                              p.reinterpreted_batch_ndims(), " and ", q.reinterpreted_batch_ndims(),
                              " reinterpreted dimensions");
  Tensor result = kl_divergence(p.base(), q.base());
  for (int64_t i = 0; i < p.reinterpreted_batch_ndims(); ++i) result = result.sum({-1});
  return result;
}

/// One transform of both changes nothing.
Tensor of_transformed(const TransformedDistribution& p, const TransformedDistribution& q) {
  TAEDA_CHECK_NOT_IMPLEMENTED(
      &p.transform() == &q.transform(),
      "No KL(p || q) is implemented for TransformedDistribution with transforms "
      "that are not one object: ",
      p.str(), " and ", q.str());
  return kl_divergence(p.base(), q.base());
}

}  // namespace

void add_divergences_of_reals(Divergences& all) {
  all.add<Normal, Normal>(of_normals);
  all.add<LogNormal, LogNormal>(of_log_normals);
  all.add<HalfNormal, HalfNormal>(of_half_normals);
  all.add<MultivariateNormal, MultivariateNormal>(of_multivariate_normals);
  of_whole_covariances<MultivariateNormal, LowRankMultivariateNormal>(all);
  of_whole_covariances<LowRankMultivariateNormal, MultivariateNormal>(all);
  of_whole_covariances<LowRankMultivariateNormal, LowRankMultivariateNormal>(all);
  all.add<Laplace, Laplace>(of_laplaces);
  all.add<Uniform, Uniform>(of_uniforms);
  all.add<Cauchy, Cauchy>(of_cauchys);
  all.add<HalfCauchy, HalfCauchy>(of_half_cauchys);
  all.add<Gumbel, Gumbel>(of_gumbels);
  all.add<Exponential, Exponential>(of_exponentials);
  all.add<Weibull, Weibull>(of_weibulls);
  all.add<Pareto, Pareto>(of_paretos);
  all.add<Gamma, Gamma>(of_gammas);
  all.add<InverseGamma, InverseGamma>(of_inverse_gammas);
  all.add<Dirichlet, Dirichlet>(of_dirichlets);
  all.add<Beta, Beta>(of_betas);
  all.add<TransformedDistribution, TransformedDistribution>(of_transformed);
  all.add<Independent, Independent>(of_independents);
}

}  // namespace taeda::inline v0_2::distributions
