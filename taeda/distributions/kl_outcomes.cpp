// Divergences of two discrete distributions.
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/distributions/binary.h"
#include "taeda/distributions/categorical.h"
#include "taeda/distributions/kl_formulas.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::distributions {

namespace {

/// p log(p / q) of the probabilities of an outcome, 0 for p = 0 and inf for q = 0 alone.
Tensor outcome(const TwoOutcomes::Chance& p, const TwoOutcomes::Chance& q) {
  return p.probability.mul(p.log.sub(q.log).masked_fill(p.probability.eq(0), 0));
}

Tensor of_bernoullis(const Bernoulli& p, const Bernoulli& q) {
  return outcome(p.chance(true), q.chance(true)).add(outcome(p.chance(false), q.chance(false)));
}

Tensor of_binomials(const Binomial& p, const Binomial& q) {
  TAEDA_CHECK_NOT_IMPLEMENTED(
      taeda::detail::every(p.total_count().ge(q.total_count())),
      "KL between Binomials where q.total_count > p.total_count is not implemented");
  const Tensor odds = log1p_exp(q.logits()).sub(log1p_exp(p.logits()));
  const Tensor exact = p.probs().mul(p.logits().sub(q.logits())).add(odds);
  return p.total_count().mul(exact).masked_fill(p.total_count().gt(q.total_count()), INFINITY);
}

Tensor of_several(const SeveralOutcomes& p, const SeveralOutcomes& q) {
  const Tensor from = p.probs(), to = q.probs();
  Tensor each = from.mul(p.logits().sub(q.logits()));
  each = each.masked_fill(to.eq(0).expand(each.sizes()), INFINITY);
  return each.masked_fill(from.eq(0).expand(each.sizes()), 0).sum({-1});
}

Tensor of_categoricals(const Categorical& p, const Categorical& q) { return of_several(p, q); }
Tensor of_one_hots(const OneHotCategorical& p, const OneHotCategorical& q) {
  return of_several(p, q);
}

Tensor of_geometrics(const Geometric& p, const Geometric& q) {
  return p.entropy().neg().sub(q.probs().neg().log1p().div(p.probs())).sub(q.logits());
}

Tensor of_poissons(const Poisson& p, const Poisson& q) {
  return p.rate().mul(p.rate().log().sub(q.rate().log())).sub(p.rate().sub(q.rate()));
}

Tensor of_bernoulli_and_poisson(const Bernoulli& p, const Poisson& q) {
  return p.entropy().neg().sub(p.probs().mul(q.rate().log()).sub(q.rate()));
}

}  // namespace

void add_divergences_of_outcomes(Divergences& all) {
  all.add<Bernoulli, Bernoulli>(of_bernoullis);
  all.add<Binomial, Binomial>(of_binomials);
  all.add<Categorical, Categorical>(of_categoricals);
  all.add<OneHotCategorical, OneHotCategorical>(of_one_hots);
  all.add<Geometric, Geometric>(of_geometrics);
  all.add<Poisson, Poisson>(of_poissons);
  all.add<Bernoulli, Poisson>(of_bernoulli_and_poisson);
}

}  // namespace taeda::inline v0_2::distributions
