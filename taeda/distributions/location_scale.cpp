#include "taeda/distributions/location_scale.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "taeda/base/error.h"
#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"

namespace taeda::inline v0_2::distributions {

Uniform::Uniform(Parameter low, Parameter high, Validate validate_args)
    : DistributionOf("Uniform",
                     {{"low", std::move(low), constraints::real()},
                      {"high", std::move(high), constraints::real()}},
                     validate_args) {
  if (!validates_args()) return;
  TAEDA_CHECK_VALUE(taeda::detail::every(this->low().lt(this->high())),
                    "Uniform is not defined when low>= high: ", str());
}

Tensor Uniform::entropy() const { return high().sub(low()).log(); }
Tensor Uniform::mean() const { return high().add(low()).div(2); }
Tensor Uniform::mode() const { return full_like(low(), NAN); }
Tensor Uniform::stddev() const { return high().sub(low()).div(std::sqrt(12.0)); }
Tensor Uniform::variance() const { return high().sub(low()).square().div(12); }

Tensor Uniform::draw(IntArrayRef shape, Generator* generator) const {
  return uniform_like(low(), shape, 0, 1, generator).mul(high().sub(low())).add(low());
}

Tensor Uniform::log_density(const Tensor& value) const {
  const Tensor inside = value.ge(low()).logical_and(value.lt(high()));
  return where_inside(inside, high().sub(low()).log().neg().expand(inside.sizes()));
}

Tensor Uniform::cumulative(const Tensor& value) const {
  return value.sub(low()).div(high().sub(low())).clamp(0, 1);
}

Tensor Uniform::quantile(const Tensor& probability) const {
  return probability.mul(high().sub(low())).add(low());
}

Laplace::Laplace(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("Laplace",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor Laplace::entropy() const { return scale().mul(2).log().add(1); }
Tensor Laplace::stddev() const { return scale().mul(std::numbers::sqrt2); }
Tensor Laplace::variance() const { return scale().square().mul(2); }

Tensor Laplace::draw(IntArrayRef shape, Generator* generator) const {
  const Tensor u = uniform_like(loc(), shape, epsilon_of(loc().dtype()) - 1, 1, generator);
  return loc().sub(scale().mul(u.sign()).mul(u.abs().neg().log1p()));
}

Tensor Laplace::log_density(const Tensor& value) const {
  return scale().mul(2).log().add(value.sub(loc()).abs().div(scale())).neg();
}

Tensor Laplace::cumulative(const Tensor& value) const {
  const Tensor z = value.sub(loc()).div(scale());
  return z.abs().neg().expm1().mul(z.sign()).mul(-0.5).add(0.5);
}

Tensor Laplace::quantile(const Tensor& probability) const {
  const Tensor from_middle = probability.sub(0.5);
  const Tensor steps = from_middle.abs().mul(-2).log1p().mul(from_middle.sign());
  return loc().sub(scale().mul(steps));
}

Cauchy::Cauchy(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("Cauchy",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor Cauchy::entropy() const { return scale().log().add(std::log(4 * std::numbers::pi)); }
Tensor Cauchy::mean() const { return full_like(loc(), NAN); }
Tensor Cauchy::variance() const { return full_like(loc(), INFINITY); }

Tensor Cauchy::draw(IntArrayRef shape, Generator* generator) const {
  Tensor noise = empty(shape, loc().options().requires_grad(false));
  noise.cauchy_(0, 1, generator);
  return noise.mul(scale()).add(loc());
}

Tensor Cauchy::log_density(const Tensor& value) const {
  const Tensor z = value.sub(loc()).div(scale());
  return z.square().log1p().add(scale().log()).add(std::log(std::numbers::pi)).neg();
}

Tensor Cauchy::cumulative(const Tensor& value) const {
  return value.sub(loc()).div(scale()).atan().div(std::numbers::pi).add(0.5);
}

Tensor Cauchy::quantile(const Tensor& probability) const {
  return probability.sub(0.5).mul(std::numbers::pi).tan().mul(scale()).add(loc());
}

HalfCauchy::HalfCauchy(Parameter scale, Validate validate_args)
    : DistributionOf("HalfCauchy", {{"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor HalfCauchy::entropy() const { return scale().log().add(std::log(2 * std::numbers::pi)); }
Tensor HalfCauchy::mean() const { return full_like(scale(), INFINITY); }
Tensor HalfCauchy::mode() const { return zeros_like(scale()); }
Tensor HalfCauchy::variance() const { return full_like(scale(), INFINITY); }

Tensor HalfCauchy::draw(IntArrayRef shape, Generator* generator) const {
  Tensor noise = empty(shape, scale().options().requires_grad(false));
  noise.cauchy_(0, 1, generator);
  return noise.mul(scale()).abs();
}

Tensor HalfCauchy::log_density(const Tensor& value) const {
  const Tensor z = value.div(scale());
  const Tensor density =
      z.square().log1p().add(scale().log()).sub(std::log(2 / std::numbers::pi)).neg();
  return where_inside(value.ge(0), density);
}

Tensor HalfCauchy::cumulative(const Tensor& value) const {
  return value.div(scale()).atan().mul(2 / std::numbers::pi);
}

Tensor HalfCauchy::quantile(const Tensor& probability) const {
  return probability.mul(std::numbers::pi / 2).tan().mul(scale());
}

Gumbel::Gumbel(Parameter loc, Parameter scale, Validate validate_args)
    : DistributionOf("Gumbel",
                     {{"loc", std::move(loc), constraints::real()},
                      {"scale", std::move(scale), constraints::positive()}},
                     validate_args) {}

Tensor Gumbel::entropy() const { return scale().log().add(1 + std::numbers::egamma); }
Tensor Gumbel::mean() const { return scale().mul(std::numbers::egamma).add(loc()); }
Tensor Gumbel::stddev() const { return scale().mul(std::numbers::pi / std::sqrt(6.0)); }
Tensor Gumbel::variance() const { return stddev().square(); }

Tensor Gumbel::draw(IntArrayRef shape, Generator* generator) const {
  const double tiny = tiny_of(loc().dtype()), eps = epsilon_of(loc().dtype());
  const Tensor u = uniform_like(loc(), shape, 0, 1, generator).mul(1 - eps - tiny).add(tiny);
  return loc().sub(scale().mul(u.log().neg().log()));
}

Tensor Gumbel::log_density(const Tensor& value) const {
  const Tensor y = loc().sub(value).div(scale());
  return y.sub(y.exp()).sub(scale().log());
}

Tensor Gumbel::cumulative(const Tensor& value) const {
  return loc().sub(value).div(scale()).exp().neg().exp();
}

Tensor Gumbel::quantile(const Tensor& probability) const {
  return loc().sub(scale().mul(probability.log().neg().log()));
}

}  // namespace taeda::inline v0_2::distributions
