// Divergences of distributions of two classes.
#include <cmath>
#include <numbers>

#include "taeda/distributions/binary.h"
#include "taeda/distributions/continuous_bernoulli.h"
#include "taeda/distributions/gamma.h"
#include "taeda/distributions/kl_formulas.h"
#include "taeda/distributions/location_scale.h"
#include "taeda/distributions/normal.h"
#include "taeda/distributions/numbers.h"
#include "taeda/distributions/positive.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"

namespace taeda::inline v0_2::distributions {

namespace {

const double kLogTwoPi = std::log(2 * std::numbers::pi);

/// The mean of -log q(x) for x of p, for a normal q: it needs p's first two moments only.
Tensor cross_entropy(const Distribution& p, const Normal& q) {
  const Tensor square = p.variance().add(p.mean().sub(q.loc()).square());
  return q.variance().log().add(kLogTwoPi).add(square.div(q.variance())).mul(0.5);
}
/// For an exponential one it needs the mean.
Tensor cross_entropy(const Distribution& p, const Exponential& q) {
  return q.rate().mul(p.mean()).sub(q.rate().log());
}
/// For a gamma one the mean and that of the logarithm.
Tensor cross_entropy(const Tensor& mean, const Tensor& mean_log, const Gamma& q) {
  const Tensor& a = q.concentration();
  return a.lgamma().sub(a.mul(q.rate().log())).sub(a.sub(1).mul(mean_log)).add(q.rate().mul(mean));
}
/// For a Gumbel one the mean and that of exp(-x / q's scale).
Tensor cross_entropy(const Tensor& mean, const Tensor& mean_exp, const Gumbel& q) {
  const Tensor z = mean.sub(q.loc()).div(q.scale());
  return q.scale().log().add(z).add(q.loc().div(q.scale()).exp().mul(mean_exp));
}

/// For a continuous Bernoulli one the mean.
Tensor cross_entropy(const Distribution& p, const ContinuousBernoulli& q) {
  return q.cross_entropy(p.mean());
}

/// KL(p || q) of a p that has an entropy, for those q of which a cross entropy with p is known.
template <class P, class Q>
void by_moments(Divergences& all) {
  all.add<P, Q>([](const P& p, const Q& q) { return cross_entropy(p, q).sub(p.entropy()); });
}

template <class P, class Q>
void infinite(Divergences& all) {
  all.add<P, Q>([](const P& p, const Q& q) {
    return full(broadcast_sizes(p.batch_shape(), q.batch_shape()), INFINITY,
                p.mean().options().requires_grad(false));
  });
}

Tensor mean_log(const Exponential& p) { return p.rate().log().neg().sub(std::numbers::egamma); }
Tensor mean_log(const Beta& p) {
  return p.concentration1().digamma().sub(p.concentration1().add(p.concentration0()).digamma());
}
Tensor mean_log(const Pareto& p) { return p.scale().log().add(p.alpha().reciprocal()); }
Tensor mean_log(const Uniform& p) {
  const Tensor integral = p.high().xlogy(p.high()).sub(p.low().xlogy(p.low()));
  return integral.div(p.high().sub(p.low())).sub(1);
}

template <class P>
void with_gamma(Divergences& all) {
  all.add<P, Gamma>([](const P& p, const Gamma& q) {
    return cross_entropy(p.mean(), mean_log(p), q).sub(p.entropy());
  });
}

Tensor of_uniform_and_gamma(const Uniform& p, const Gamma& q) {
  const Tensor result = cross_entropy(p.mean(), mean_log(p), q).sub(p.entropy());
  return result.masked_fill(p.low().lt(0), INFINITY);
}

/// The mean of log(1 - x) is that of the logarithm of a number that is mirrored at 1/2.
Tensor of_uniform_and_beta(const Uniform& p, const Beta& q) {
  const Tensor outside = p.low().lt(0).logical_or(p.high().gt(1));
  const Tensor low = p.low().clamp_min(0), high = p.high().clamp_max(1);
  const Tensor mean_log_rest = mean_log(Uniform(high.neg().add(1), low.neg().add(1), false));
  const Tensor &a = q.concentration1(), &b = q.concentration0();
  const Tensor logs =
      a.sub(1).mul(mean_log(Uniform(low, high, false))).add(b.sub(1).mul(mean_log_rest));
  return log_beta(a, b).sub(logs).sub(p.entropy()).masked_fill(outside, INFINITY);
}

Tensor of_uniform_and_exponential(const Uniform& p, const Exponential& q) {
  return cross_entropy(p, q).sub(p.entropy()).masked_fill(p.low().lt(0), INFINITY);
}

Tensor of_uniform_and_gumbel(const Uniform& p, const Gumbel& q) {
  const Tensor width = p.high().sub(p.low());
  const auto decay = [&](const Tensor& x) { return x.div(q.scale()).neg().exp(); };
  const Tensor mean_exp = decay(p.low()).sub(decay(p.high())).mul(q.scale()).div(width);
  return cross_entropy(p.mean(), mean_exp, q).sub(p.entropy());
}

Tensor of_uniform_and_pareto(const Uniform& p, const Pareto& q) {
  const Tensor logs = q.alpha().add(1).mul(mean_log(p));
  const Tensor result =
      logs.sub(q.alpha().log()).sub(q.alpha().mul(q.scale().log())).sub(p.entropy());
  return result.masked_fill(p.low().lt(q.scale()), INFINITY);
}

/// Of values in [0, 1].
template <class P>
Tensor of_units_and_uniform(const P& p, const Uniform& q) {
  const Tensor result = q.entropy().sub(p.entropy());
  return result.masked_fill(q.low().gt(0).logical_or(q.high().lt(1)), INFINITY);
}

Tensor of_uniform_and_continuous_bernoulli(const Uniform& p, const ContinuousBernoulli& q) {
  const Tensor result = cross_entropy(p, q).sub(p.entropy());
  return result.masked_fill(p.low().lt(0).logical_or(p.high().gt(1)), INFINITY);
}

Tensor of_exponential_and_gumbel(const Exponential& p, const Gumbel& q) {
  const Tensor mean_exp = p.rate().div(p.rate().add(q.scale().reciprocal()));
  return cross_entropy(p.mean(), mean_exp, q).sub(p.entropy());
}

Tensor of_gamma_and_gumbel(const Gamma& p, const Gumbel& q) {
  const Tensor mean_exp = p.rate().mul(q.scale()).reciprocal().add(1).pow(p.concentration().neg());
  return cross_entropy(p.mean(), mean_exp, q).sub(p.entropy());
}

Tensor of_normal_and_gumbel(const Normal& p, const Gumbel& q) {
  const Tensor mean_exp =
      p.scale().div(q.scale()).square().mul(0.5).sub(p.loc().div(q.scale())).exp();
  return cross_entropy(p.mean(), mean_exp, q).sub(p.entropy());
}

/// The mean distance of a normal number from a place is that of a folded normal.
Tensor of_normal_and_laplace(const Normal& p, const Laplace& q) {
  const Tensor z = p.loc().sub(q.loc()).div(p.scale());
  const Tensor distance = z.square()
                              .mul(-0.5)
                              .exp()
                              .mul(std::sqrt(2 / std::numbers::pi))
                              .add(z.mul(z.div(std::numbers::sqrt2).erf()));
  return q.scale().mul(2).log().add(p.scale().div(q.scale()).mul(distance)).sub(p.entropy());
}

/// Of pairs where p has values that q has not.
void add_infinite(Divergences& all) {
  infinite<Beta, Pareto>(all);
  infinite<ContinuousBernoulli, Pareto>(all);
  infinite<Exponential, Beta>(all);
  infinite<Exponential, ContinuousBernoulli>(all);
  infinite<Exponential, Pareto>(all);
  infinite<Exponential, Uniform>(all);
  infinite<Gamma, Beta>(all);
  infinite<Gamma, ContinuousBernoulli>(all);
  infinite<Gamma, Pareto>(all);
  infinite<Gamma, Uniform>(all);
  infinite<Gumbel, Beta>(all);
  infinite<Gumbel, ContinuousBernoulli>(all);
  infinite<Gumbel, Exponential>(all);
  infinite<Gumbel, Gamma>(all);
  infinite<Gumbel, Pareto>(all);
  infinite<Gumbel, Uniform>(all);
  infinite<Laplace, Beta>(all);
  infinite<Laplace, ContinuousBernoulli>(all);
  infinite<Laplace, Exponential>(all);
  infinite<Laplace, Gamma>(all);
  infinite<Laplace, Pareto>(all);
  infinite<Laplace, Uniform>(all);
  infinite<Normal, Beta>(all);
  infinite<Normal, ContinuousBernoulli>(all);
  infinite<Normal, Exponential>(all);
  infinite<Normal, Gamma>(all);
  infinite<Normal, Pareto>(all);
  infinite<Normal, Uniform>(all);
  infinite<Pareto, Beta>(all);
  infinite<Pareto, ContinuousBernoulli>(all);
  infinite<Pareto, Uniform>(all);
  infinite<Poisson, Bernoulli>(all);
  infinite<Poisson, Binomial>(all);
}

}  // namespace

void add_divergences_of_mixed_pairs(Divergences& all) {
  by_moments<Beta, Normal>(all);
  by_moments<Exponential, Normal>(all);
  by_moments<Gamma, Normal>(all);
  by_moments<Gumbel, Normal>(all);
  by_moments<Laplace, Normal>(all);
  by_moments<Pareto, Normal>(all);
  by_moments<Uniform, Normal>(all);
  by_moments<Beta, Exponential>(all);
  by_moments<Gamma, Exponential>(all);
  by_moments<Pareto, Exponential>(all);
  by_moments<Beta, ContinuousBernoulli>(all);
  by_moments<ContinuousBernoulli, ContinuousBernoulli>(all);
  by_moments<ContinuousBernoulli, Normal>(all);
  by_moments<ContinuousBernoulli, Exponential>(all);
  with_gamma<Beta>(all);
  with_gamma<Exponential>(all);
  with_gamma<Pareto>(all);
  all.add<Uniform, Beta>(of_uniform_and_beta);
  all.add<Uniform, Exponential>(of_uniform_and_exponential);
  all.add<Uniform, Gamma>(of_uniform_and_gamma);
  all.add<Uniform, Gumbel>(of_uniform_and_gumbel);
  all.add<Uniform, Pareto>(of_uniform_and_pareto);
  all.add<Beta, Uniform>(of_units_and_uniform<Beta>);
  all.add<ContinuousBernoulli, Uniform>(of_units_and_uniform<ContinuousBernoulli>);
  all.add<Uniform, ContinuousBernoulli>(of_uniform_and_continuous_bernoulli);
  all.add<Exponential, Gumbel>(of_exponential_and_gumbel);
  all.add<Gamma, Gumbel>(of_gamma_and_gumbel);
  all.add<Normal, Gumbel>(of_normal_and_gumbel);
  all.add<Normal, Laplace>(of_normal_and_laplace);
  add_infinite(all);
}

}  // namespace taeda::inline v0_2::distributions
