#include "taeda/distributions/gamma.h"

#include <cmath>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/gamma_numbers.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::distributions {

namespace {

/// `t`, or NaN where `defined` is false.
Tensor or_nan(const Tensor& defined, const Tensor& t) {
  return t.masked_fill(defined.logical_not(), NAN);
}

/// A gamma number with these parameters for each element of `shape`.
Tensor gamma_numbers(const Tensor& concentration, const Tensor& rate, IntArrayRef shape,
                     Generator* generator) {
  return standard_gamma(concentration.expand(shape), generator)
      .div(rate)
      .clamp_min(tiny_of(concentration.dtype()));
}

Parameter half_of(const Parameter& p) {
  return p.is_number() ? Parameter(p.number() / 2) : Parameter(p.tensor().mul(0.5));
}

}  // namespace

Gamma::Gamma(std::string name, Parameter concentration, Parameter rate, Validate validate_args)
    : DistributionOf(std::move(name),
                     {{"concentration", std::move(concentration), constraints::positive()},
                      {"rate", std::move(rate), constraints::positive()}},
                     validate_args) {}

Gamma::Gamma(Parameter concentration, Parameter rate, Validate validate_args)
    : Gamma("Gamma", std::move(concentration), std::move(rate), validate_args) {}

Tensor Gamma::mean() const { return concentration().div(rate()); }
Tensor Gamma::mode() const { return concentration().sub(1).div(rate()).clamp_min(0); }
Tensor Gamma::variance() const { return concentration().div(rate().square()); }

Tensor Gamma::entropy() const {
  const Tensor& a = concentration();
  return a.sub(rate().log()).add(a.lgamma()).add(a.neg().add(1).mul(a.digamma()));
}

Tensor Gamma::draw(IntArrayRef shape, Generator* generator) const {
  return gamma_numbers(concentration(), rate(), shape, generator);
}

Tensor Gamma::log_density(const Tensor& value) const {
  const Tensor& a = concentration();
  return a.xlogy(rate()).add(a.sub(1).xlogy(value)).sub(rate().mul(value)).sub(a.lgamma());
}

Tensor Gamma::cumulative(const Tensor& value) const {
  return gamma_cdf(concentration(), rate().mul(value));
}

Chi2::Chi2(Parameter df, Validate validate_args)
    : DistributionOf("Chi2", half_of(df), 0.5, validate_args) {}
Tensor Chi2::df() const { return concentration().mul(2); }

InverseGamma::InverseGamma(Parameter concentration, Parameter rate, Validate validate_args)
    : DistributionOf("InverseGamma",
                     {{"concentration", std::move(concentration), constraints::positive()},
                      {"rate", std::move(rate), constraints::positive()}},
                     validate_args) {}

Tensor InverseGamma::mean() const {
  const Tensor result = rate().div(concentration().sub(1));
  return result.masked_fill(concentration().le(1), INFINITY);
}

Tensor InverseGamma::mode() const { return rate().div(concentration().add(1)); }

Tensor InverseGamma::variance() const {
  const Tensor& a = concentration();
  const Tensor result = rate().square().div(a.sub(1).square().mul(a.sub(2)));
  return result.masked_fill(a.le(2), INFINITY);
}

Tensor InverseGamma::entropy() const {
  const Tensor& a = concentration();
  return a.add(rate().log()).add(a.lgamma()).sub(a.add(1).mul(a.digamma()));
}

Tensor InverseGamma::draw(IntArrayRef shape, Generator* generator) const {
  return gamma_numbers(concentration(), rate(), shape, generator).reciprocal();
}

Tensor InverseGamma::log_density(const Tensor& value) const {
  const Tensor& a = concentration();
  return a.xlogy(rate()).sub(a.add(1).mul(value.log())).sub(rate().div(value)).sub(a.lgamma());
}

Tensor InverseGamma::cumulative(const Tensor& value) const {
  return gamma_cdf(concentration(), rate().div(value)).neg().add(1);
}

Dirichlet::Dirichlet(Tensor concentration, Validate validate_args)
    : DistributionOf(
          "Dirichlet",
          {{"concentration", std::move(concentration), constraints::positive().independent(1)}},
          validate_args, 1) {}

Tensor Dirichlet::mean() const { return concentration().div(concentration().sum({-1}, true)); }

Tensor Dirichlet::mode() const {
  const Tensor& a = concentration();
  const Tensor above = a.sub(1).clamp_min(0);
  const Tensor inner = above.div(above.sum({-1}, true));
  // Where no concentration is above 1 the density is highest in the corner of the largest; several
  // that are 1 make it the same between their corners.
  const Tensor corner = zeros_like(a).scatter(-1, a.argmax(-1, true), 1);
  const Tensor level = a.eq(1).sum({-1}, true).gt(1);
  return where(a.le(1).all(-1, true), corner.masked_fill(level, NAN), inner);
}

Tensor Dirichlet::variance() const {
  const Tensor total = concentration().sum({-1}, true);
  const Tensor p = mean();
  return p.mul(p.neg().add(1)).div(total.add(1));
}

Tensor Dirichlet::entropy() const {
  const Tensor& a = concentration();
  const auto k = static_cast<double>(event_shape()[0]);
  const Tensor total = a.sum({-1});
  return a.lgamma()
      .sum({-1})
      .sub(total.lgamma())
      .sub(total.neg().add(k).mul(total.digamma()))
      .sub(a.sub(1).mul(a.digamma()).sum({-1}));
}

Tensor Dirichlet::draw(IntArrayRef shape, Generator* generator) const {
  return standard_dirichlet(concentration().expand(shape), generator);
}

Tensor Dirichlet::log_density(const Tensor& value) const {
  const Tensor& a = concentration();
  return a.sub(1).xlogy(value).sum({-1}).add(a.sum({-1}).lgamma()).sub(a.lgamma().sum({-1}));
}

Beta::Beta(Parameter concentration1, Parameter concentration0, Validate validate_args)
    : DistributionOf("Beta",
                     {{"concentration1", std::move(concentration1), constraints::positive()},
                      {"concentration0", std::move(concentration0), constraints::positive()}},
                     validate_args) {}

Dirichlet Beta::both() const {
  return Dirichlet(stack({concentration1(), concentration0()}, -1), false);
}
Tensor Beta::mean() const { return concentration1().div(concentration1().add(concentration0())); }
Tensor Beta::mode() const { return both().mode().select(-1, 0); }
Tensor Beta::entropy() const { return both().entropy(); }

Tensor Beta::variance() const {
  const Tensor total = concentration1().add(concentration0());
  return concentration1().mul(concentration0()).div(total.square().mul(total.add(1)));
}

Tensor Beta::draw(IntArrayRef shape, Generator* generator) const {
  const IntArrayRef samples = shape.slice(0, shape.size() - batch_shape().size());
  return both().rsample(samples, generator).select(-1, 0);
}

Tensor Beta::log_density(const Tensor& value) const {
  return both().log_prob(stack({value, value.neg().add(1)}, -1));
}

StudentT::StudentT(Parameter df, Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("StudentT",
                     {{"df", std::move(df), constraints::positive()},
                      {"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor StudentT::mean() const { return or_nan(df().gt(1), loc()); }

Tensor StudentT::variance() const {
  const Tensor result = scale().square().mul(df()).div(df().sub(2));
  return or_nan(df().gt(1), result.masked_fill(df().le(2), INFINITY));
}

Tensor StudentT::entropy() const {
  const Tensor half = df().mul(0.5), next = half.add(0.5);
  const Tensor beta = half.lgamma().add(std::lgamma(0.5)).sub(next.lgamma());
  return scale()
      .log()
      .add(next.mul(next.digamma().sub(half.digamma())))
      .add(df().log().mul(0.5))
      .add(beta);
}

Tensor StudentT::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor x = standard_normal(df(), shape, generator);
  const Tensor chi = gamma_numbers(df().mul(0.5), full_like(df(), 0.5), shape, generator);
  return x.mul(chi.div(df()).rsqrt()).mul(scale()).add(loc());
}

Tensor StudentT::log_density(const Tensor& value) const {
  const Tensor y = value.sub(loc()).div(scale());
  const Tensor half = df().mul(0.5), next = half.add(0.5);
  const Tensor normaliser = scale()
                                .log()
                                .add(df().log().mul(0.5))
                                .add(0.5 * std::log(std::numbers::pi))
                                .add(half.lgamma())
                                .sub(next.lgamma());
  return next.neg().mul(y.square().div(df()).log1p()).sub(normaliser);
}

FisherSnedecor::FisherSnedecor(Parameter df1, Parameter df2, Validate validate_args)
    : DistributionOf("FisherSnedecor",
                     {{"df1", std::move(df1), constraints::positive()},
                      {"df2", std::move(df2), constraints::positive()}},
                     validate_args) {}

Tensor FisherSnedecor::mean() const { return or_nan(df2().gt(2), df2().div(df2().sub(2))); }

Tensor FisherSnedecor::mode() const {
  const Tensor first = df1().sub(2).div(df1()), second = df2().div(df2().add(2));
  return or_nan(df1().gt(2), first.mul(second));
}

Tensor FisherSnedecor::variance() const {
  const Tensor above = df2().sub(2).square().mul(df2().sub(4)).mul(df1());
  const Tensor result = df2().square().mul(2).mul(df1().add(df2()).sub(2)).div(above);
  return or_nan(df2().gt(4), result);
}

Tensor FisherSnedecor::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor half1 = df1().mul(0.5), half2 = df2().mul(0.5);
  const Tensor first = gamma_numbers(half1, half1, shape, generator);
  const Tensor second = gamma_numbers(half2, half2, shape, generator);
  return first.div(second).clamp_min(tiny_of(df1().dtype()));
}

Tensor FisherSnedecor::log_density(const Tensor& value) const {
  const Tensor half1 = df1().mul(0.5), half2 = df2().mul(0.5), ratio = df1().div(df2());
  const Tensor powers = half1.mul(ratio.log()).add(half1.sub(1).mul(value.log()));
  const Tensor rest = half1.add(half2).mul(ratio.mul(value).log1p());
  return powers.sub(log_beta(half1, half2)).sub(rest);
}

}  // namespace taeda::inline v0_2::distributions
