// Higher transcendental functions, under torch.special's names. Integers compute in the default
// floating dtype, every dtype in double inside its kernel; operands broadcast. Functions that
// PyTorch takes for constants record no gradient here either, and say so.
//
// Sources: the Digital Library of Mathematical Functions (dlmf.nist.gov), whose numbers stand at
// the formulas in kernels/bessel.h, gamma.h, normal.h and orthogonal.h.
// [operations, out, dtypes: floating integral bool, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

namespace special {

// Bessel functions -------------------------------------------------------------------------------

/// The modified Bessel functions of the first kind I_0(x) and I_1(x), and e^-|x| times these.
/// [method, in-place]
Tensor i0(const Tensor& self);
/// [not method]
Tensor i0e(const Tensor& self);
Tensor i1(const Tensor& self);
Tensor i1e(const Tensor& self);
/// The Bessel functions of the first kind J_0(x) and J_1(x).
Tensor bessel_j0(const Tensor& self);
Tensor bessel_j1(const Tensor& self);
/// The Bessel functions of the second kind Y_0(x) and Y_1(x): -inf at 0, NaN below.
Tensor bessel_y0(const Tensor& self);
Tensor bessel_y1(const Tensor& self);
/// i0 and i1 under other names.
Tensor modified_bessel_i0(const Tensor& self);
Tensor modified_bessel_i1(const Tensor& self);
/// The modified Bessel functions of the second kind K_0(x) and K_1(x): inf at 0, NaN below.
Tensor modified_bessel_k0(const Tensor& self);
Tensor modified_bessel_k1(const Tensor& self);
/// e^x K_0(x) and e^x K_1(x). Record no gradient.
Tensor scaled_modified_bessel_k0(const Tensor& x);
Tensor scaled_modified_bessel_k1(const Tensor& x);
/// sin(x) / x. Records no gradient.
Tensor spherical_bessel_j0(const Tensor& x);
/// Airy's function Ai(x). Records no gradient.
Tensor airy_ai(const Tensor& x);

// The normal distribution ------------------------------------------------------------------------

/// e^(x^2) erfc(x).
Tensor erfcx(const Tensor& self);
/// The area under the normal distribution's density from minus infinity to x.
Tensor ndtr(const Tensor& self);
/// log(ndtr(x)), exact for x far below 0.
Tensor log_ndtr(const Tensor& self);
/// The x for which ndtr is `self`: -inf for 0, inf for 1, NaN outside [0, 1].
Tensor ndtri(const Tensor& self);

// Entropy and logarithms -------------------------------------------------------------------------

/// -x log(x), 0 at 0 and -inf below.
/// [composite]
Tensor entr(const Tensor& self);
/// self log(1 + other), and 0 where self is 0 and other is a number.
/// [composite, shape: broadcast]
Tensor xlog1py(const Tensor& self, const Tensor& other);
Tensor xlog1py(const Tensor& self, const Scalar& other);
Tensor xlog1py(const Scalar& self, const Tensor& other);

// The gamma function -----------------------------------------------------------------------------

/// The regularised lower incomplete gamma function P(self, other), and the upper one Q = 1 - P; NaN
/// for negative numbers. Gradients flow to `other` alone: backward throws NotImplementedError for
/// `self`.
/// [shape: broadcast]
Tensor gammainc(const Tensor& self, const Tensor& other);
Tensor gammaincc(const Tensor& self, const Tensor& other);
/// log of the multivariate gamma function of dimension p (DLMF 35.3.4): log(pi) p (p - 1) / 4 +
/// lgamma(x) + lgamma(x - 1/2) + ... (p terms). Throws Error unless p >= 1.
/// [composite]
Tensor multigammaln(const Tensor& self, int64_t p);
/// Hurwitz' zeta function, the sum of (other + k)^-self over k = 0, 1, ... Gradients flow to
/// `other` alone: backward throws NotImplementedError for `self`.
/// [shape: broadcast]
Tensor zeta(const Tensor& self, const Tensor& other);
Tensor zeta(const Tensor& self, const Scalar& other);
Tensor zeta(const Scalar& self, const Tensor& other);

// Orthogonal polynomials -------------------------------------------------------------------------

/// Chebyshev's polynomials of the first to fourth kind, of degree n (cut to a whole number; 0 for a
/// negative one) at x. Like all polynomials here they record no gradient.
/// [shape: broadcast]
Tensor chebyshev_polynomial_t(const Tensor& x, const Tensor& n);
Tensor chebyshev_polynomial_t(const Tensor& x, const Scalar& n);
Tensor chebyshev_polynomial_t(const Scalar& x, const Tensor& n);
Tensor chebyshev_polynomial_u(const Tensor& x, const Tensor& n);
Tensor chebyshev_polynomial_u(const Tensor& x, const Scalar& n);
Tensor chebyshev_polynomial_u(const Scalar& x, const Tensor& n);
Tensor chebyshev_polynomial_v(const Tensor& x, const Tensor& n);
Tensor chebyshev_polynomial_v(const Tensor& x, const Scalar& n);
Tensor chebyshev_polynomial_v(const Scalar& x, const Tensor& n);
Tensor chebyshev_polynomial_w(const Tensor& x, const Tensor& n);
Tensor chebyshev_polynomial_w(const Tensor& x, const Scalar& n);
Tensor chebyshev_polynomial_w(const Scalar& x, const Tensor& n);
/// Chebyshev's polynomials of the first to fourth kind, of degree n at 2 x - 1, so that they belong
/// to the numbers between 0 and 1.
/// [shape: broadcast]
Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_t(const Tensor& x, const Scalar& n);
Tensor shifted_chebyshev_polynomial_t(const Scalar& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_u(const Tensor& x, const Scalar& n);
Tensor shifted_chebyshev_polynomial_u(const Scalar& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_v(const Tensor& x, const Scalar& n);
Tensor shifted_chebyshev_polynomial_v(const Scalar& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Tensor& n);
Tensor shifted_chebyshev_polynomial_w(const Tensor& x, const Scalar& n);
Tensor shifted_chebyshev_polynomial_w(const Scalar& x, const Tensor& n);
/// Hermite's polynomials of degree n at x, the physicists' (H) and the probabilists' (He).
/// [shape: broadcast]
Tensor hermite_polynomial_h(const Tensor& x, const Tensor& n);
Tensor hermite_polynomial_h(const Tensor& x, const Scalar& n);
Tensor hermite_polynomial_h(const Scalar& x, const Tensor& n);
Tensor hermite_polynomial_he(const Tensor& x, const Tensor& n);
Tensor hermite_polynomial_he(const Tensor& x, const Scalar& n);
Tensor hermite_polynomial_he(const Scalar& x, const Tensor& n);
/// Laguerre's polynomials of degree n at x.
/// [shape: broadcast]
Tensor laguerre_polynomial_l(const Tensor& x, const Tensor& n);
Tensor laguerre_polynomial_l(const Tensor& x, const Scalar& n);
Tensor laguerre_polynomial_l(const Scalar& x, const Tensor& n);
/// Legendre's polynomials of degree n at x.
/// [shape: broadcast]
Tensor legendre_polynomial_p(const Tensor& x, const Tensor& n);
Tensor legendre_polynomial_p(const Tensor& x, const Scalar& n);
Tensor legendre_polynomial_p(const Scalar& x, const Tensor& n);

}  // namespace special

// Names that torch has outside of torch.special.
using special::i0;
/// The regularised lower and upper incomplete gamma functions: special::gammainc and
/// special::gammaincc.
/// [method, in-place, shape: broadcast]
inline Tensor igamma(const Tensor& self, const Tensor& other) {
  return special::gammainc(self, other);
}
inline Tensor igammac(const Tensor& self, const Tensor& other) {
  return special::gammaincc(self, other);
}
/// log of the multivariate gamma function of dimension p: special::multigammaln. Throws Error
/// unless p >= 1.
/// [method, in-place]
inline Tensor mvlgamma(const Tensor& self, int64_t p) { return special::multigammaln(self, p); }

}  // namespace taeda::inline v0_2
