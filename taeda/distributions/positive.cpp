#include "taeda/distributions/positive.h"

#include <cmath>
#include <numbers>

#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"

namespace taeda::inline v0_2::distributions {

Exponential::Exponential(Parameter rate, Validate validate_args)
    : DistributionOf("Exponential", {{"rate", std::move(rate), constraints::positive()}},
                     validate_args) {}

Tensor Exponential::entropy() const { return rate().log().neg().add(1); }
Tensor Exponential::mean() const { return rate().reciprocal(); }
Tensor Exponential::mode() const { return zeros_like(rate()); }
Tensor Exponential::stddev() const { return rate().reciprocal(); }
Tensor Exponential::variance() const { return rate().square().reciprocal(); }

Tensor Exponential::draw(IntArrayRef shape, Generator* generator) const {
  return standard_exponential(rate(), shape, generator).div(rate());
}

Tensor Exponential::log_density(const Tensor& value) const {
  return where_inside(value.ge(0), rate().log().sub(rate().mul(value)));
}

Tensor Exponential::cumulative(const Tensor& value) const {
  return rate().neg().mul(value).expm1().neg();
}

Tensor Exponential::quantile(const Tensor& probability) const {
  return probability.neg().log1p().neg().div(rate());
}

Weibull::Weibull(Parameter scale, Parameter concentration, Validate validate_args)
    : DistributionOf("Weibull",
                     {{"scale", std::move(scale), constraints::positive()},
                      {"concentration", std::move(concentration), constraints::positive()}},
                     validate_args) {}

Tensor Weibull::mean() const {
  return scale().mul(concentration().reciprocal().add(1).lgamma().exp());
}

Tensor Weibull::mode() const {
  const Tensor inverse = concentration().reciprocal();
  return scale().mul(
      inverse.neg().add(1).clamp_min(0).pow(inverse));  // 0 for concentrations up to 1
}

Tensor Weibull::variance() const {
  const Tensor inverse = concentration().reciprocal();
  const Tensor second = inverse.mul(2).add(1).lgamma().exp(),
               first = inverse.add(1).lgamma().mul(2).exp();
  return scale().square().mul(second.sub(first));
}

Tensor Weibull::entropy() const {
  const Tensor inverse = concentration().reciprocal();
  return inverse.neg().add(1).mul(std::numbers::egamma).add(scale().mul(inverse).log()).add(1);
}

Tensor Weibull::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor times = standard_exponential(scale(), shape, generator);
  return times.pow(concentration().reciprocal()).mul(scale());
}

Tensor Weibull::log_density(const Tensor& value) const {
  const Tensor z = value.div(scale());
  const Tensor density =
      concentration().div(scale()).log().add(concentration().sub(1).mul(z.log()));
  return density.sub(z.pow(concentration()));
}

Tensor Weibull::cumulative(const Tensor& value) const {
  return value.div(scale()).pow(concentration()).neg().expm1().neg();
}

Tensor Weibull::quantile(const Tensor& probability) const {
  return probability.neg().log1p().neg().pow(concentration().reciprocal()).mul(scale());
}

Pareto::Pareto(Parameter scale, Parameter alpha, Validate validate_args)
    : DistributionOf("Pareto",
                     {{"scale", std::move(scale), constraints::positive()},
                      {"alpha", std::move(alpha), constraints::positive()}},
                     validate_args) {}

Tensor Pareto::mean() const {
  const Tensor a = alpha().clamp_min(1);  // infinite up to 1
  return a.mul(scale()).div(a.sub(1));
}

Tensor Pareto::variance() const {
  const Tensor a = alpha().clamp_min(2);
  return scale().square().mul(a).div(a.sub(1).square().mul(a.sub(2)));
}

Tensor Pareto::entropy() const {
  return scale().div(alpha()).log().add(alpha().reciprocal()).add(1);
}

Tensor Pareto::draw(IntArrayRef shape, Generator* generator) const {
  return standard_exponential(scale(), shape, generator).div(alpha()).exp().mul(scale());
}

Tensor Pareto::log_density(const Tensor& value) const {
  const Tensor density =
      alpha().log().add(alpha().mul(scale().log())).sub(alpha().add(1).mul(value.log()));
  return where_inside(value.ge(scale()), density);
}

Tensor Pareto::cumulative(const Tensor& value) const {
  return value.div(scale()).log().mul(alpha().neg()).expm1().neg().clamp_min(0);
}

Tensor Pareto::quantile(const Tensor& probability) const {
  return probability.neg().log1p().neg().div(alpha()).exp().mul(scale());
}

GeneralizedPareto::GeneralizedPareto(Parameter loc, Parameter scale, Parameter concentration,
                                     Validate validate_args)
    : DistributionOf("GeneralizedPareto",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()},
                      {"concentration", std::move(concentration), constraints::real()}},
                     validate_args) {}

Tensor GeneralizedPareto::is_exponential() const { return concentration().abs().le(1e-8); }
Tensor GeneralizedPareto::divisor() const {
  return concentration().masked_fill(is_exponential(), 1);
}

Tensor GeneralizedPareto::entropy() const { return scale().log().add(concentration()).add(1); }

Tensor GeneralizedPareto::mean() const {
  const Tensor finite = concentration().lt(1);
  const Tensor result = loc().add(scale().div(concentration().neg().add(1)));
  return result.masked_fill(finite.logical_not(), NAN);
}

Tensor GeneralizedPareto::variance() const {
  const Tensor finite = concentration().lt(0.5), rest = concentration().neg().add(1);
  const Tensor result = scale().div(rest).square().div(concentration().mul(-2).add(1));
  return result.masked_fill(finite.logical_not(), NAN);
}

Constraint GeneralizedPareto::support() const {
  const Tensor end = loc().sub(scale().div(divisor()));
  return constraints::interval(
      loc(), end.masked_fill(concentration().ge(0).logical_or(is_exponential()), INFINITY));
}

Tensor GeneralizedPareto::log_survival(const Tensor& value) const {
  const Tensor z = value.sub(loc()).div(scale());
  return where(is_exponential(), z.neg(), divisor().mul(z).log1p().div(divisor()).neg());
}

Tensor GeneralizedPareto::log_density(const Tensor& value) const {
  return log_survival(value).mul(concentration().add(1)).sub(scale().log());
}

Tensor GeneralizedPareto::cumulative(const Tensor& value) const {
  return log_survival(value).expm1().neg();
}

Tensor GeneralizedPareto::quantile(const Tensor& probability) const {
  const Tensor log_rest = probability.neg().log1p();
  const Tensor bent = divisor().neg().mul(log_rest).expm1().div(divisor());
  return where(is_exponential(), log_rest.neg(), bent).mul(scale()).add(loc());
}

Tensor GeneralizedPareto::draw(IntArrayRef shape, Generator* generator) const {
  return quantile(uniform_like(loc(), shape, 0, 1, generator));
}

Kumaraswamy::Kumaraswamy(Parameter concentration1, Parameter concentration0, Validate validate_args)
    : DistributionOf("Kumaraswamy",
                     {{"concentration1", std::move(concentration1), constraints::positive()},
                      {"concentration0", std::move(concentration0), constraints::positive()}},
                     validate_args) {}

Tensor Kumaraswamy::moment(int n) const {
  const Tensor power = concentration1().reciprocal().mul(n).add(1);
  return concentration0().mul(log_beta(power, concentration0()).exp());
}

Tensor Kumaraswamy::mean() const { return moment(1); }
Tensor Kumaraswamy::variance() const { return moment(2).sub(mean().square()); }

Tensor Kumaraswamy::mode() const {
  const Tensor &a = concentration1(), &b = concentration0();
  const Tensor result = a.sub(1).div(a.mul(b).sub(1)).pow(a.reciprocal());
  const Tensor corner = a.lt(1).logical_or(b.lt(1)).logical_or(a.eq(1).logical_and(b.eq(1)));
  return result.masked_fill(corner, NAN);
}

Tensor Kumaraswamy::entropy() const {
  const Tensor &a = concentration1(), &b = concentration0();
  const Tensor harmonic = b.add(1).digamma().add(std::numbers::egamma);
  const Tensor first = a.reciprocal().neg().add(1), second = b.reciprocal().neg().add(1);
  return second.add(first.mul(harmonic)).sub(a.log()).sub(b.log());
}

Tensor Kumaraswamy::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor u = uniform_like(concentration0(), shape, 0, 1, generator);
  return u.pow(concentration0().reciprocal()).neg().add(1).pow(concentration1().reciprocal());
}

Tensor Kumaraswamy::log_density(const Tensor& value) const {
  const Tensor &a = concentration1(), &b = concentration0();
  const Tensor powers = a.sub(1).xlogy(value).add(b.sub(1).mul(value.pow(a).neg().log1p()));
  return powers.add(a.log()).add(b.log());
}

Tensor Kumaraswamy::cumulative(const Tensor& value) const {
  return value.pow(concentration1()).neg().log1p().mul(concentration0()).expm1().neg();
}

Tensor Kumaraswamy::quantile(const Tensor& probability) const {
  const Tensor rest = probability.neg().log1p().div(concentration0()).expm1().neg();
  return rest.pow(concentration1().reciprocal());
}

}  // namespace taeda::inline v0_2::distributions
