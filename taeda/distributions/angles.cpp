#include "taeda/distributions/angles.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "taeda/distributions/numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/torch_special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/random/host_numbers.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributions {

VonMises::VonMises(Parameter loc, Parameter concentration, Validate validate_args)
    : DistributionOf("VonMises",
                     {{"loc", std::move(loc), constraints::real()},
                      {"concentration", std::move(concentration), constraints::positive()}},
                     validate_args) {}

Tensor VonMises::resultant() const {
  return special::i1e(concentration()).div(special::i0e(concentration()));
}

Tensor VonMises::log_integral() const {
  return special::i0e(concentration()).log().add(std::log(2 * std::numbers::pi));
}

Tensor VonMises::variance() const { return resultant().neg().add(1); }

Tensor VonMises::entropy() const { return log_integral().add(concentration().mul(variance())); }

Tensor VonMises::log_density(const Tensor& value) const {
  return value.sub(loc()).cos().sub(1).mul(concentration()).sub(log_integral());
}

namespace {

/// The parameter of the wrapped Cauchy envelope.
Tensor envelope(const Tensor& concentration) {
  const Tensor tau = concentration.mul(2).square().add(1).sqrt().add(1);
  const Tensor rho = tau.sub(tau.mul(2).sqrt()).div(concentration.mul(2));
  const Tensor r = rho.square().add(1).div(rho.mul(2));
  // Where rho is lost to rounding.
  return where(concentration.lt(1e-5), concentration.reciprocal().add(concentration), r);
}

}  // namespace

/// Best and Fisher, "Efficient simulation of the von Mises distribution" (1979). In double, in
/// which small concentrations end, too.
Tensor VonMises::draw(IntArrayRef shape, Generator* generator) const {
  NoGradGuard guard;
  const Tensor k = concentration().to(kDouble), r = envelope(k);
  // Where there is no number to draw with, none is drawn: no proposal would ever be accepted.
  const Tensor none = k.isnan().logical_or(r.isnan()).expand(shape);
  Tensor angle = full(shape, std::numeric_limits<double>::quiet_NaN(), k.options()), done = none;
  DimVector three{3};
  for (const int64_t size : shape) three.push_back(size);
  while (!taeda::detail::every(done)) {
    const Tensor u = uniform_like(k, three, 0, 1, generator);
    const Tensor z = u.select(0, 0).mul(std::numbers::pi).cos(), u2 = u.select(0, 1);
    const Tensor f = r.mul(z).add(1).div(r.add(z));
    const Tensor c = k.mul(r.sub(f));
    const Tensor quick = c.mul(c.neg().add(2)).gt(u2);
    const Tensor accepted = quick.logical_or(c.div(u2).log().add(1).ge(c));
    angle = where(accepted, u.select(0, 2).sub(0.5).sign().mul(f.acos()), angle);
    done = done.logical_or(accepted);
  }
  const Tensor turned = angle.add(loc().to(kDouble)).add(std::numbers::pi);
  return turned.remainder(2 * std::numbers::pi).sub(std::numbers::pi).to(loc().dtype());
}

}  // namespace taeda::inline v0_2::distributions
