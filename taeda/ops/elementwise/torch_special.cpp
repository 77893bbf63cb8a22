#include "taeda/ops/elementwise/torch_special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "bodies/torch_special.h"
#include "taeda/kernels/pointwise/special_functions.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2::special {

namespace {

const double kSqrtPi = std::sqrt(std::numbers::pi), kSqrtTwo = std::numbers::sqrt2;

void check_real(const char* name, const Tensor& t) {
  if (t.is_complex()) taeda::detail::throw_no_dtype(name, t.dtype());
}

/// The function without a record.
Tensor constant(const char* name, SpecialFunction function, const Tensor& x) {
  check_real(name, x);
  return pointwise_as(name, SpecialOfOne{function}, x);
}

/// The function, whose gradient is `g` times `slope(x)`.
template <class Op, class Slope>
Tensor smooth(const char* node, const char* name, const Op& op, const Tensor& x, Slope slope) {
  check_real(name, x);
  Tensor y = pointwise_as(name, op, x);
  if (wants_grad(x))
    record(node, y, {x},
           [slope, x = save_tensor(x)](const Tensor& g) { return g.mul(slope(x.unpack())); });
  return y;
}

template <class Slope>
Tensor smooth(const char* node, const char* name, SpecialFunction function, const Tensor& x,
              Slope slope) {
  return smooth(node, name, SpecialOfOne{function}, x, slope);
}

/// y / x, which tends to 1/2 at 0 for every y that it is used for.
Tensor over(const Tensor& y, const Tensor& x) {
  const Tensor zero = x.eq(0);
  return y.div(x.masked_fill(zero, 1)).masked_fill(zero, 0.5);
}

/// The dtype of the values of a function of these operands.
ScalarType values_dtype(ArrayRef<Operand> operands) {
  const ScalarType t = result_type(operands);
  return is_integral(t, true) ? get_default_dtype() : t;
}

Tensor scalar_beside(const Scalar& value, const Tensor& other) {
  const ScalarType t = is_integral(other.dtype(), true) ? get_default_dtype() : other.dtype();
  return detail::number_beside(value, t, other.device());
}

}  // namespace

// ---- Bessel functions ----

Tensor do_i0(const Tensor& self) {
  return smooth("I0Backward0", "i0", SpecialFunction::BesselI0, self, &i1);
}
Tensor do_i0e(const Tensor& self) {
  return smooth("SpecialI0EBackward0", "i0e", SpecialFunction::ScaledBesselI0, self,
                [](const Tensor& x) { return i1e(x).sub(x.sgn().mul(i0e(x))); });
}
Tensor do_i1(const Tensor& self) {
  return smooth("SpecialI1Backward0", "i1", SpecialFunction::BesselI1, self,
                [](const Tensor& x) { return i0(x).sub(over(i1(x), x)); });
}
Tensor do_i1e(const Tensor& self) {
  return smooth("SpecialI1EBackward0", "i1e", SpecialFunction::ScaledBesselI1, self,
                [](const Tensor& x) {
                  const Tensor y = i1e(x);
                  return i0e(x).sub(x.sgn().mul(y)).sub(over(y, x));
                });
}
Tensor do_bessel_j0(const Tensor& self) {
  return smooth("SpecialBesselJ0Backward0", "bessel_j0", SpecialFunction::BesselJ0, self,
                [](const Tensor& x) { return bessel_j1(x).neg(); });
}
Tensor do_bessel_j1(const Tensor& self) {
  return smooth("SpecialBesselJ1Backward0", "bessel_j1", SpecialFunction::BesselJ1, self,
                [](const Tensor& x) { return bessel_j0(x).sub(over(bessel_j1(x), x)); });
}
Tensor do_bessel_y0(const Tensor& self) {
  return smooth("SpecialBesselY0Backward0", "bessel_y0", SpecialFunction::BesselY0, self,
                [](const Tensor& x) { return bessel_y1(x).neg(); });
}
Tensor do_bessel_y1(const Tensor& self) {
  return smooth("SpecialBesselY1Backward0", "bessel_y1", SpecialFunction::BesselY1, self,
                [](const Tensor& x) {
                  const Tensor slope = bessel_y0(x).sub(bessel_y1(x).div(x));
                  return slope.masked_fill(x.eq(0), std::numeric_limits<double>::infinity());
                });
}
Tensor do_modified_bessel_i0(const Tensor& self) {
  return smooth("SpecialModifiedBesselI0Backward0", "modified_bessel_i0", SpecialFunction::BesselI0,
                self, &modified_bessel_i1);
}
Tensor do_modified_bessel_i1(const Tensor& self) {
  return smooth(
      "SpecialModifiedBesselI1Backward0", "modified_bessel_i1", SpecialFunction::BesselI1, self,
      [](const Tensor& x) { return modified_bessel_i0(x).sub(over(modified_bessel_i1(x), x)); });
}
Tensor do_modified_bessel_k0(const Tensor& self) {
  return smooth("SpecialModifiedBesselK0Backward0", "modified_bessel_k0", SpecialFunction::BesselK0,
                self, [](const Tensor& x) { return modified_bessel_k1(x).neg(); });
}
Tensor do_modified_bessel_k1(const Tensor& self) {
  return smooth("SpecialModifiedBesselK1Backward0", "modified_bessel_k1", SpecialFunction::BesselK1,
                self, [](const Tensor& x) {
                  return modified_bessel_k0(x).add(modified_bessel_k1(x).div(x)).neg();
                });
}
Tensor do_scaled_modified_bessel_k0(const Tensor& x) {
  return constant("scaled_modified_bessel_k0", SpecialFunction::ScaledBesselK0, x);
}
Tensor do_scaled_modified_bessel_k1(const Tensor& x) {
  return constant("scaled_modified_bessel_k1", SpecialFunction::ScaledBesselK1, x);
}
Tensor do_spherical_bessel_j0(const Tensor& x) {
  return constant("spherical_bessel_j0", SpecialFunction::SphericalBesselJ0, x);
}
Tensor do_airy_ai(const Tensor& x) { return constant("airy_ai", SpecialFunction::AiryAi, x); }

// ---- the normal distribution ----

Tensor do_erfcx(const Tensor& self) {
  return smooth("SpecialErfcxBackward0", "erfcx", SpecialFunction::Erfcx, self,
                [](const Tensor& x) {
                  // It falls to 0 as x grows, where the two terms are equal.
                  const Tensor slope = x.mul(erfcx(x)).mul(2).sub(2 / kSqrtPi);
                  return slope.masked_fill(eq(x, INFINITY), 0);
                });
}
Tensor do_ndtr(const Tensor& self) {
  return smooth("SpecialNdtrBackward0", "ndtr", Ndtr{}, self, [](const Tensor& x) {
    return x.square().mul(-0.5).exp().mul(1 / (kSqrtTwo * kSqrtPi));
  });
}
Tensor do_log_ndtr(const Tensor& self) {
  return smooth("SpecialLogNdtrBackward0", "log_ndtr", SpecialFunction::LogNdtr, self,
                [](const Tensor& x) {
                  return erfcx(x.mul(-1 / kSqrtTwo)).reciprocal().mul(kSqrtTwo / kSqrtPi);
                });
}
Tensor do_ndtri(const Tensor& self) {
  return smooth(
      "SpecialNdtriBackward0", "ndtri", SpecialFunction::Ndtri, self,
      [](const Tensor& p) { return ndtri(p).square().mul(0.5).exp().mul(kSqrtTwo * kSqrtPi); });
}

// ---- entropy and logarithms ----

Tensor do_entr(const Tensor& self) {
  check_real("entr", self);
  const ScalarType t = values_dtype({Operand(self)});
  Tensor y;
  {
    NoGradGuard guard;
    const Tensor x = self.to(computing_dtype(t));
    y = x.mul(x.log()).neg().masked_fill(x.eq(0), 0);
    y = y.masked_fill(x.lt(0), -std::numeric_limits<double>::infinity()).to(t);
  }
  if (wants_grad(self))
    record("SpecialEntrBackward0", y, {self}, [x = save_tensor(self)](const Tensor& g) {
      return g.mul(x.unpack().log().add(1).neg());
    });
  return y;
}

Tensor do_xlog1py(const Tensor& self, const Tensor& other) {
  check_real("xlog1py", self);
  check_real("xlog1py", other);
  const ScalarType t = values_dtype({Operand(self), Operand(other)});
  Tensor out;
  {
    NoGradGuard guard;
    const Tensor x = self.to(computing_dtype(t)), y = other.to(computing_dtype(t));
    const Tensor nothing = logical_and(eq(x, 0), logical_not(isnan(y)));
    out = where(nothing, Scalar(0), x.mul(y.log1p())).to(t);
  }
  if (wants_grad(self, other))
    record("SpecialXlog1PyBackward0", out, {self, other},
           [a = save_tensor(self), b = save_tensor(other, "other")](const Tensor& g, Needs needs) {
             const Tensor x = a.unpack(), y = b.unpack();
             const Tensor nothing = logical_and(eq(x, 0), le(y, -1));
             return TensorVec{needs[0] ? g.mul(y.log1p()).masked_fill(nothing, 0) : Tensor(),
                              needs[1] ? g.mul(x).div(y.add(1)).masked_fill(nothing, 0) : Tensor()};
           });
  return out;
}
Tensor do_xlog1py(const Tensor& self, const Scalar& other) {
  return xlog1py(self, scalar_beside(other, self));
}
Tensor do_xlog1py(const Scalar& self, const Tensor& other) {
  return xlog1py(scalar_beside(self, other), other);
}

// ---- the gamma function ----

namespace {

/// A function of two numbers, of which the first has no gradient and the second `slope(a, x)`;
/// `refusal` names the first in the error.
template <class Slope>
Tensor of_pair(const char* node, const char* name, const char* refusal, SpecialPair function,
               const Tensor& a, const Tensor& x, Slope slope) {
  check_real(name, a);
  check_real(name, x);
  Tensor y = pointwise_as(name, SpecialOfTwo{function}, a, x);
  if (wants_grad(a, x))
    record(node, y, {a, x},
           [slope, refusal, a = save_tensor(a), x = save_tensor(x, "other")](const Tensor& g,
                                                                             Needs needs) {
             TAEDA_CHECK_NOT_IMPLEMENTED(!needs[0], "the derivative for '", refusal,
                                         "' is not implemented.");
             return TensorVec{Tensor(), g.mul(slope(a.unpack(), x.unpack()))};
           });
  return y;
}

/// x^(a - 1) e^-x / Gamma(a), the derivative of P(a, x).
Tensor gamma_slope(const Tensor& a, const Tensor& x) {
  return a.sub(1).mul(x.log()).sub(x).sub(a.lgamma()).exp();
}

}  // namespace

Tensor do_gammainc(const Tensor& self, const Tensor& other) {
  return of_pair("IgammaBackward0", "gammainc", "igamma: input", SpecialPair::GammaInc, self, other,
                 &gamma_slope);
}
Tensor do_gammaincc(const Tensor& self, const Tensor& other) {
  return of_pair("IgammacBackward0", "gammaincc", "igammac: input", SpecialPair::GammaIncc, self,
                 other, [](const Tensor& a, const Tensor& x) { return gamma_slope(a, x).neg(); });
}

Tensor multigammaln(const Tensor& self, int64_t p) {
  constexpr int64_t kMost = 1 << 20;  // each takes a pass over the tensor
  TAEDA_CHECK(p >= 1, "p has to be greater than or equal to 1");
  TAEDA_CHECK(p <= kMost, "multigammaln: p has to be at most ", kMost, ", but is ", p);
  check_real("multigammaln", self);
  const ScalarType t = values_dtype({Operand(self)});
  const Tensor x = self.to(computing_dtype(t));
  const auto dimension = static_cast<double>(p);
  Tensor sum = x.lgamma();
  for (int64_t j = 1; j < p; ++j) sum = sum.add(x.sub(0.5 * static_cast<double>(j)).lgamma());
  return sum.add(0.25 * dimension * (dimension - 1) * std::log(std::numbers::pi)).to(t);
}

Tensor do_zeta(const Tensor& self, const Tensor& other) {
  return of_pair("SpecialZetaBackward0", "zeta", "zeta", SpecialPair::Zeta, self, other,
                 [](const Tensor& s, const Tensor& q) { return zeta(s.add(1), q).mul(s).neg(); });
}
Tensor do_zeta(const Tensor& self, const Scalar& other) {
  return zeta(self, scalar_beside(other, self));
}
Tensor do_zeta(const Scalar& self, const Tensor& other) {
  return zeta(scalar_beside(self, other), other);
}

// ---- orthogonal polynomials ----

namespace {

template <class X, class N>
Tensor polynomial(const char* name, math::Polynomial which, bool shifted, const X& x, const N& n) {
  if constexpr (std::is_same_v<X, Tensor>) check_real(name, x);
  if constexpr (std::is_same_v<N, Tensor>) check_real(name, n);
  return pointwise_as(name, OrthogonalPolynomial{which, shifted}, x, n);
}

}  // namespace

#define TAEDA_POLYNOMIAL(name, which, shifted)                        \
  Tensor do_##name(const Tensor& x, const Tensor& n) {                \
    return polynomial(#name, math::Polynomial::which, shifted, x, n); \
  }                                                                   \
  Tensor do_##name(const Tensor& x, const Scalar& n) {                \
    return polynomial(#name, math::Polynomial::which, shifted, x, n); \
  }                                                                   \
  Tensor do_##name(const Scalar& x, const Tensor& n) {                \
    return polynomial(#name, math::Polynomial::which, shifted, x, n); \
  }
TAEDA_POLYNOMIAL(chebyshev_polynomial_t, ChebyshevT, false)
TAEDA_POLYNOMIAL(chebyshev_polynomial_u, ChebyshevU, false)
TAEDA_POLYNOMIAL(chebyshev_polynomial_v, ChebyshevV, false)
TAEDA_POLYNOMIAL(chebyshev_polynomial_w, ChebyshevW, false)
TAEDA_POLYNOMIAL(shifted_chebyshev_polynomial_t, ChebyshevT, true)
TAEDA_POLYNOMIAL(shifted_chebyshev_polynomial_u, ChebyshevU, true)
TAEDA_POLYNOMIAL(shifted_chebyshev_polynomial_v, ChebyshevV, true)
TAEDA_POLYNOMIAL(shifted_chebyshev_polynomial_w, ChebyshevW, true)
TAEDA_POLYNOMIAL(hermite_polynomial_h, HermiteH, false)
TAEDA_POLYNOMIAL(hermite_polynomial_he, HermiteHe, false)
TAEDA_POLYNOMIAL(laguerre_polynomial_l, LaguerreL, false)
TAEDA_POLYNOMIAL(legendre_polynomial_p, LegendreP, false)
#undef TAEDA_POLYNOMIAL

}  // namespace taeda::inline v0_2::special
