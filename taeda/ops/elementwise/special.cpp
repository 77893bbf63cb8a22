#include "taeda/ops/elementwise/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "bodies/special.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/composed.h"
#include "taeda/kernels/pointwise/special.h"
#include "taeda/kernels/pointwise/special_functions.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/observer.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

using detail::assign;
using detail::differentiable_in_input;

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity();

/// The dtype of a function's values.
ScalarType value_dtype(const Tensor& t) {
  return is_integral(t.dtype(), true) ? get_default_dtype() : t.dtype();
}

/// `compute(x)` without a record, 16-bit numbers in float.
template <class F>
Tensor evaluate(const Tensor& self, F compute) {
  NoGradGuard guard;
  const ScalarType t = value_dtype(self);
  return compute(self.to(computing_dtype(t))).to(t);
}
template <class F>
Tensor evaluate(const Tensor& a, const Tensor& b, F compute) {
  NoGradGuard guard;
  ScalarType t = result_type({a, b});
  if (is_integral(t, true)) t = get_default_dtype();
  return compute(a.to(computing_dtype(t)), b.to(computing_dtype(t))).to(t);
}

/// Whether an operation with a formula of its own is made of others nevertheless: of complex and
/// sparse numbers.
bool is_composed(const Tensor& t) { return t.is_complex() || !t.is_strided(); }
bool is_composed(const Tensor& a, const Tensor& b) { return is_composed(a) || is_composed(b); }

}  // namespace

Tensor positive(const Tensor& self) {
  TAEDA_CHECK(self.dtype() != kBool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

// ---- inverse hyperbolic functions, the gamma function ----

Tensor do_acosh(const Tensor& self) {
  return differentiable_in_input("AcoshBackward0", Acosh{}, self,
                                 [](const Tensor& g, const Tensor& x) {
                                   // The root of the product has another branch.
                                   if (x.is_complex())
                                     return g.mul(x.add(1).rsqrt()).mul(x.sub(1).rsqrt());
                                   return g.mul(x.square().sub(1).rsqrt());
                                 });
}

Tensor do_asinh(const Tensor& self) {
  return differentiable_in_input(
      "AsinhBackward0", Asinh{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(x.square().add(1).rsqrt()); });
}

Tensor do_atanh(const Tensor& self) {
  return differentiable_in_input(
      "AtanhBackward0", Atanh{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(rsub(x.square(), 1)); });
}

Tensor do_lgamma(const Tensor& self) {
  return differentiable_in_input(
      "LgammaBackward0", Lgamma{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(x.digamma()); });
}

Tensor do_digamma(const Tensor& self) {
  return differentiable_in_input(
      "DigammaBackward0", Digamma{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(x.polygamma(1)); });
}

namespace {

Tensor polygamma_by_zeta(int64_t n, const Tensor& self) {
  const double order = static_cast<double>(n);
  const double factor = std::tgamma(order + 1) * (n % 2 == 0 ? -1 : 1);
  NoGradGuard guard;
  const Tensor x = self.to(kDouble);
  const Tensor zeta = pointwise(SpecialOfTwo{SpecialPair::Zeta}, Scalar(order + 1), x);
  return zeta.mul(factor).to(value_dtype(self));
}

}  // namespace

Tensor do_polygamma(int64_t n, const Tensor& self) {
  TAEDA_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  if (n == 0) return digamma(self);
  Tensor y = n == 1 ? pointwise(Trigamma{}, self) : polygamma_by_zeta(n, self);
  if (wants_grad(self))
    record("PolygammaBackward0", y, {self}, [n, x = save_tensor(self)](const Tensor& g) {
      return g.mul(polygamma(n + 1, x.unpack()));
    });
  return y;
}

namespace {

/// Winitzki's approximation ("A handy approximation for the error function and its inverse", 2008),
/// which three steps of Newton make exact.
Tensor inverse_erf(const Tensor& x) {
  constexpr double a = 0.147;
  const Tensor y = x.to(kDouble), tail = rsub(y.square(), 1).log();
  const Tensor middle = tail.mul(0.5).add(2 / (kPi * a));
  Tensor z = middle.square().sub(tail.div(a)).sqrt().sub(middle).clamp_min(0).sqrt().mul(y.sign());
  for (int step = 0; step < 3; ++step)
    z = z.sub(z.erf().sub(y).mul(z.square().exp()).mul(0.5 * std::sqrt(kPi)));
  return z.masked_fill(y.eq(1), kInf).masked_fill(y.eq(-1), -kInf);
}

}  // namespace

Tensor compose_erfinv(const Tensor& self) { return evaluate(self, &inverse_erf); }

Tensor do_erfinv(const Tensor& self) {
  Tensor y = is_composed(self) ? compose_erfinv(self) : pointwise(Erfinv{}, self);
  if (wants_grad(self))
    record("ErfinvBackward0", y, {self}, [y = save_output(y)](const Tensor& g) {
      return g.mul(y.unpack().square().exp()).mul(0.5 * std::sqrt(kPi));
    });
  return y;
}

Tensor compose_logit(const Tensor& self, std::optional<double> eps) {
  return evaluate(self, [eps](const Tensor& x) {
    Tensor z = eps ? x.clamp_max(1 - *eps) : x;
    if (eps) z = where(x.lt(*eps), *eps, z);
    return z.div(rsub(z, 1)).log();
  });
}

Tensor do_logit(const Tensor& self, std::optional<double> eps) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (eps && !self.is_complex())
    detail::check_number(is_integral(self.dtype(), true) ? get_default_dtype() : self.dtype(),
                         *eps);
  Tensor y =
      is_composed(self) ? compose_logit(self, eps) : pointwise(Logit{eps.value_or(none)}, self);
  if (wants_grad(self))
    record("LogitBackward0", y, {self}, [eps, x = save_tensor(self)](const Tensor& g) {
      const Tensor z = x.unpack();
      const bool bounded = eps && *eps >= 0;
      const double low = bounded ? *eps : 0, nan = std::numeric_limits<double>::quiet_NaN();
      const Tensor outside = z.lt(low).logical_or(z.gt(1 - low));
      return g.div(z.mul(rsub(z, 1))).masked_fill(outside, bounded ? 0.0 : nan);
    });
  return y;
}

namespace {

Tensor composed_sinc(const Tensor& x) {
  const Tensor angle = x.mul(kPi);
  return angle.sin().div(angle).masked_fill(x.eq(0), 1);
}

/// SincSlope of what one formula does not compute: complex numbers, derivatives to be derived
/// again.
Tensor composed_sinc_slope(const Tensor& self) {
  const Tensor angle = self.to(computing_dtype(self.dtype())).mul(kPi), near = angle.abs().lt(0.5);
  const Tensor x = angle.masked_fill(near.logical_not(), 0), square = x.mul(x);
  Tensor sum = square.mul(SincSlope::series(5)).add(SincSlope::series(4));
  for (int n = 3; n >= 0; --n) sum = sum.mul(square).add(SincSlope::series(n));
  const Tensor far = angle.masked_fill(near, 1);
  return where(near, x.mul(sum.mul(square).sub(1.0 / 3)),
               far.cos().sub(far.sin().div(far)).div(far))
      .mul(kPi);
}

}  // namespace

Tensor compose_sinc(const Tensor& self) { return evaluate(self, &composed_sinc); }

Tensor do_sinc(const Tensor& self) {
  Tensor y = is_composed(self) ? compose_sinc(self) : pointwise(Sinc{}, self);
  if (wants_grad(self))
    record("SincBackward0", y, {self}, [x = save_tensor(self)](const Tensor& g) {
      const Tensor z = x.unpack();
      if (GradMode::is_enabled() || is_composed(z))
        return g.mul(detail::conjugate(composed_sinc_slope(z)));
      return g.mul(pointwise(SincSlope{}, z));
    });
  return y;
}

Tensor sgn(const Tensor& self) {
  if (!self.is_complex()) return self.sign();
  const Tensor size = self.abs();
  return self.div(size.add(size.eq(0).to(size.dtype())));
}

Tensor deg2rad(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "deg2rad is not supported for complex tensors.");
  return self.mul(kPi / 180);
}
Tensor rad2deg(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "rad2deg is not supported for complex tensors.");
  return self.mul(180 / kPi);
}

// ---- what kind of number ----

Tensor do_signbit(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "signbit is not implemented for complex tensors.");
  if (!self.is_floating_point()) return lt(self, 0);
  return lt(pointwise(CopySign{}, Scalar(1), self), 0);
}

Tensor isneginf(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "isneginf does not support complex inputs.");
  return logical_and(isinf(self), lt(self, 0));
}
Tensor isposinf(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "isposinf does not support complex inputs.");
  return logical_and(isinf(self), gt(self, 0));
}
Tensor isreal(const Tensor& self) {
  if (self.is_complex()) return eq(imag(self.detach()), 0);
  return ones(self.sizes(), TensorOptions(kBool).device(self.device()));
}

// ---- two operands ----

namespace {

/// y / x is the sign that x got.
Tensor sign_given(const Tensor& g, const Tensor& x, const Tensor& y) {
  return g.mul(y.div(x).sgn().masked_fill(x.eq(0), 0));
}

}  // namespace

Tensor do_copysign(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(CopySign{}, self, other);
  if (wants_grad(self, other))
    record("CopysignBackward0", out, {self, other},
           [x = save_tensor(self), y = save_output(out)](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? sign_given(g, x.unpack(), y.unpack()) : Tensor(),
                              needs[1] ? detail::zeros_like(g) : Tensor()};
           });
  return out;
}
Tensor do_copysign(const Tensor& self, const Scalar& other) {
  Tensor out = pointwise(CopySign{}, self, other);
  if (wants_grad(self))
    record("CopysignBackward1", out, {self},
           [x = save_tensor(self), y = save_output(out)](const Tensor& g) {
             return sign_given(g, x.unpack(), y.unpack());
           });
  return out;
}

namespace {

/// `nextafter` of 16-bit numbers, whose patterns without the sign are in the order of the numbers.
Tensor next_of_16_bits(const Tensor& from, const Tensor& to) {
  NoGradGuard guard;
  const Tensor bits = from.contiguous().view(kShort).to(kInt);
  const Tensor outward = from.gt(0).eq(to.gt(from));
  const Tensor step = where(outward, bits.add(1), bits.sub(1)).to(kShort).view(from.dtype());
  // Beyond 0 lies the smallest number of to's sign, which has the pattern 1.
  const Tensor smallest = ones_like(bits).to(kShort).view(from.dtype());
  const Tensor beyond = where(from.eq(0), where(to.gt(0), smallest, smallest.neg()), step);
  const Tensor next = where(from.eq(to), to, beyond);
  return where(from.isnan(), from, where(to.isnan(), to, next));
}

}  // namespace

Tensor do_nextafter(const Tensor& self, const Tensor& other) {
  const ScalarType t = result_type({self, other});
  if (t != kHalf && t != kBFloat16) return pointwise(NextAfter{}, self.detach(), other.detach());
  const DimVector sizes = broadcast_sizes(self.sizes(), other.sizes());
  return next_of_16_bits(self.detach().to(t).expand(sizes), other.detach().to(t).expand(sizes));
}

namespace {

/// Where Op takes `self`.
template <class Op>
Tensor is_first(const Tensor& self, const Tensor& other) {
  constexpr bool larger = std::is_same_v<Op, Fmax>;
  return logical_or(larger ? ge(self, other) : le(self, other), isnan(other));
}

/// The larger or smaller one; where both are equal each gets half of the gradient.
template <class Op>
Tensor chosen_of_two(const char* node, const Tensor& self, const Tensor& other) {
  Tensor out;
  {
    NoGradGuard guard;
    out = is_composed(self, other) ? where(is_first<Op>(self, other), self, other)
                                   : pointwise(Op{}, self, other);
  }
  if (wants_grad(self, other))
    record(
        node, out, {self, other},
        [chosen = is_first<Op>(self, other), tie = eq(self, other)](const Tensor& g, Needs needs) {
          const auto share = [&](const Tensor& whole) {
            return g.mul(tie.to(g.dtype()).mul(-0.5).add(1))
                .masked_fill(whole.logical_or(tie).logical_not(), 0);
          };
          return TensorVec{needs[0] ? share(chosen) : Tensor(),
                           needs[1] ? share(chosen.logical_not()) : Tensor()};
        });
  return out;
}

}  // namespace

Tensor compose_fmax(const Tensor& self, const Tensor& other) {
  return where(is_first<Fmax>(self, other), self, other);
}
Tensor compose_fmin(const Tensor& self, const Tensor& other) {
  return where(is_first<Fmin>(self, other), self, other);
}

Tensor do_fmax(const Tensor& self, const Tensor& other) {
  return chosen_of_two<Fmax>("FmaxBackward0", self, other);
}
Tensor do_fmin(const Tensor& self, const Tensor& other) {
  return chosen_of_two<Fmin>("FminBackward0", self, other);
}

Tensor do_heaviside(const Tensor& self, const Tensor& values) {
  TAEDA_CHECK(!self.is_complex() && !values.is_complex(),
              "heaviside is not yet implemented for complex tensors.");
  TAEDA_CHECK(self.dtype() == values.dtype(),
              "heaviside is not yet implemented for tensors with different dtypes.");
  NoGradGuard guard;
  if (!is_composed(self, values)) return pointwise(Heaviside{}, self, values);
  return compose_heaviside(self, values);
}

Tensor compose_heaviside(const Tensor& self, const Tensor& values) {
  return where(eq(self, 0), values, gt(self, 0).to(self.dtype()));
}

namespace {

/// log_b(b^a + b^c) by `tail(d)` = log_b(1 + b^d).
template <class Tail>
Tensor composed_log_of_sum(const Tensor& self, const Tensor& other, Tail tail) {
  return evaluate(self, other, [tail](const Tensor& a, const Tensor& b) {
    const Tensor sum = a.maximum(b).add(tail(a.sub(b).abs().neg()));
    return where(logical_and(isinf(a), eq(a, b)), a, sum);  // inf - inf is no difference
  });
}

template <class Op>
Tensor log_of_sum(const Tensor& self, const Tensor& other,
                  Tensor (*compose)(const Tensor&, const Tensor&)) {
  if (!is_floating_point(result_type({self, other}))) check_floating(Op::name, self);
  return is_composed(self, other) ? compose(self, other) : pointwise(Op{}, self, other);
}

/// Gradients are shares, which the logistic function gives without infinite intermediate numbers.
void record_log_of_sum(const char* node, const Tensor& out, const Tensor& self, const Tensor& other,
                       double log_base) {
  if (!wants_grad(self, other)) return;
  record(node, out, {self, other},
         [log_base, a = save_tensor(self), b = save_tensor(other, "other")](const Tensor& g,
                                                                            Needs needs) {
           const Tensor x = a.unpack(), y = b.unpack();
           // Equal infinities have no difference, but equal shares.
           const Tensor ahead = x.sub(y).masked_fill(eq(x, y), 0).mul(log_base);
           return TensorVec{needs[0] ? g.mul(ahead.sigmoid()) : Tensor(),
                            needs[1] ? g.mul(ahead.neg().sigmoid()) : Tensor()};
         });
}

}  // namespace

namespace {

/// Where the larger real part is infinite, it is the sum.
Tensor complex_logaddexp(const Tensor& self, const Tensor& other) {
  const Tensor first = real(self).ge(real(other));
  const Tensor top = where(first, self, other), low = where(first, other, self);
  const Tensor infinite = real(top).isinf();
  return where(infinite, top, top.add(low.sub(top).masked_fill(infinite, 0).exp().log1p()));
}

}  // namespace

Tensor compose_logaddexp(const Tensor& self, const Tensor& other) {
  if (self.is_complex() || other.is_complex()) return complex_logaddexp(self, other);
  return composed_log_of_sum(self, other, [](const Tensor& d) { return d.exp().log1p(); });
}

Tensor compose_logaddexp2(const Tensor& self, const Tensor& other) {
  return composed_log_of_sum(
      self, other, [](const Tensor& d) { return d.exp2().log1p().mul(std::numbers::log2e); });
}

Tensor do_logaddexp(const Tensor& self, const Tensor& other) {
  if (self.is_complex() || other.is_complex()) return complex_logaddexp(self, other);
  Tensor out = log_of_sum<LogAddExp>(self, other, compose_logaddexp);
  record_log_of_sum("LogaddexpBackward0", out, self, other, 1);
  return out;
}

Tensor do_logaddexp2(const Tensor& self, const Tensor& other) {
  Tensor out = log_of_sum<LogAddExp2>(self, other, compose_logaddexp2);
  record_log_of_sum("Logaddexp2Backward0", out, self, other, std::numbers::ln2);
  return out;
}

namespace {

Tensor as_tensor(const Scalar& value, const Tensor& like) {
  return detail::number_beside(value, value_dtype(like), like.device());
}

}  // namespace

namespace {

Tensor composed_xlogy(const Tensor& x, const Tensor& y) {
  const Tensor product = x.mul(y.log());
  return where(logical_and(eq(x, 0), logical_not(isnan(y))), Scalar(0), product);
}

}  // namespace

Tensor compose_xlogy(const Tensor& self, const Tensor& other) {
  return evaluate(self, other, &composed_xlogy);
}

Tensor do_xlogy(const Tensor& self, const Tensor& other) {
  Tensor out =
      is_composed(self, other) ? compose_xlogy(self, other) : pointwise(Xlogy{}, self, other);
  if (wants_grad(self, other))
    record("XlogyBackward0", out, {self, other},
           [a = save_tensor(self), b = save_tensor(other, "other")](const Tensor& g, Needs needs) {
             const Tensor x = a.unpack(), y = b.unpack();
             const Tensor nothing = logical_and(eq(x, 0), le(y, 0));
             return TensorVec{needs[0] ? g.mul(y.log()).masked_fill(nothing, 0) : Tensor(),
                              needs[1] ? g.mul(x).div(y).masked_fill(nothing, 0) : Tensor()};
           });
  return out;
}
Tensor xlogy(const Tensor& self, const Scalar& other) {
  return xlogy(self, as_tensor(other, self));
}
Tensor xlogy(const Scalar& self, const Tensor& other) {
  return xlogy(as_tensor(self, other), other);
}

namespace {

ScalarType power_dtype(bool complex) { return complex ? kComplexDouble : kDouble; }

}  // namespace

Tensor float_power(const Tensor& self, const Tensor& exponent) {
  const ScalarType t = power_dtype(self.is_complex() || exponent.is_complex());
  return self.to(t).pow(exponent.to(t));
}
Tensor float_power(const Tensor& self, const Scalar& exponent) {
  return self.to(power_dtype(self.is_complex() || exponent.is_complex())).pow(exponent);
}
Tensor float_power(const Scalar& self, const Tensor& exponent) {
  return pow(self, exponent.to(power_dtype(self.is_complex() || exponent.is_complex())));
}

Tensor ldexp(const Tensor& self, const Tensor& other) { return self.mul(pow(Scalar(2.0), other)); }

// ---- integers ----

Tensor do_gcd(const Tensor& self, const Tensor& other) { return pointwise(Gcd{}, self, other); }

Tensor do_lcm(const Tensor& self, const Tensor& other) {
  // The functor gives 0 for 0 / 0 without asking the device whether there is one.
  const Tensor parts = pointwise(DivTrunc{}, self, gcd(self, other));
  return parts.mul(other).abs();
}

Tensor do_bitwise_left_shift(const Tensor& self, const Tensor& other) {
  return pointwise(ShiftLeft{}, self, other);
}
Tensor do_bitwise_left_shift(const Tensor& self, const Scalar& other) {
  return pointwise(ShiftLeft{}, self, other);
}
Tensor do_bitwise_left_shift(const Scalar& self, const Tensor& other) {
  return pointwise(ShiftLeft{}, self, other);
}
Tensor do_bitwise_right_shift(const Scalar& self, const Tensor& other) {
  return pointwise(ShiftRight{}, self, other);
}
Tensor do_bitwise_right_shift(const Tensor& self, const Tensor& other) {
  return pointwise(ShiftRight{}, self, other);
}
Tensor do_bitwise_right_shift(const Tensor& self, const Scalar& other) {
  return pointwise(ShiftRight{}, self, other);
}

// ---- in place ----

namespace {

void check_base(const Tensor& self, bool complex) {
  const ScalarType t = power_dtype(self.is_complex() || complex);
  TAEDA_CHECK(self.dtype() == t, "the base given to float_power_ has dtype ",
              to_string(self.dtype()), " but the operation's result requires dtype ", to_string(t));
}

}  // namespace

Tensor& Tensor::float_power_(const Tensor& exponent) const {
  check_base(*this, exponent.is_complex());
  return assign("float_power_", *this, wants_grad(*this, exponent),
                [&](const Tensor& self) { return taeda::float_power(self, exponent); });
}
Tensor& Tensor::float_power_(const Scalar& exponent) const {
  check_base(*this, exponent.is_complex());
  return assign("float_power_", *this, wants_grad(*this),
                [&](const Tensor& self) { return taeda::float_power(self, exponent); });
}

}  // namespace taeda::inline v0_2
