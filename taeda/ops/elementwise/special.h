// Special functions and the arithmetic that is asked for less often. Operands broadcast and are
// promoted as in arithmetic.h; integers compute in the default floating dtype where the result
// is not an integer.
// [operations, method, out, dtypes: floating integral bool, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The tensor itself. Throws Error for bool.
/// [dtypes: floating complex integral, composite]
Tensor positive(const Tensor& self);
/// Inverse hyperbolic cosine; NaN below 1.
/// [in-place, also: arccosh, dtypes: floating complex integral bool]
Tensor acosh(const Tensor& self);
/// Inverse hyperbolic sine.
/// [in-place, also: arcsinh, dtypes: floating complex integral bool]
Tensor asinh(const Tensor& self);
/// Inverse hyperbolic tangent; NaN outside [-1, 1].
/// [in-place, also: arctanh, dtypes: floating complex integral bool]
Tensor atanh(const Tensor& self);
/// log |Gamma(x)|, element by element.
/// [in-place]
Tensor lgamma(const Tensor& self);
/// The derivative of log Gamma(x).
/// [in-place]
Tensor digamma(const Tensor& self);
/// The n-th derivative of digamma, for n above 1 by Hurwitz' zeta function. Throws Error for a
/// negative n.
/// [in-place]
Tensor polygamma(int64_t n, const Tensor& self);
/// The y with erf(y) = x; infinite for 1 and -1, NaN beyond.
/// [in-place, not dtypes, composition]
Tensor erfinv(const Tensor& self);
/// log(x / (1 - x)), of x clamped to [eps, 1 - eps] if there is an eps.
/// [in-place, dtypes: floating complex integral bool, composition]
Tensor logit(const Tensor& self, std::optional<double> eps = {});
/// sin(pi x) / (pi x), and 1 at 0.
/// [in-place, dtypes: floating complex integral bool, composition]
Tensor sinc(const Tensor& self);
/// -1, 0 or 1; of complex numbers x / |x|, and 0 at 0.
/// [in-place, not dtypes, composite]
Tensor sgn(const Tensor& self);
/// Degrees in radians, and radians in degrees.
/// [in-place, composite]
Tensor deg2rad(const Tensor& self);
Tensor rad2deg(const Tensor& self);

/// Whether the sign bit is set: -0 has one. Throws Error for complex tensors, as isneginf and
/// isposinf do.
Tensor signbit(const Tensor& self);
/// Whether each element is -inf (+inf).
/// [composite]
Tensor isneginf(const Tensor& self);
Tensor isposinf(const Tensor& self);
/// Whether each element has no imaginary part.
/// [not dtypes, composite]
Tensor isreal(const Tensor& self);

/// The size of `self` with the sign of `other`, whose gradient is zero.
/// [in-place, shape: broadcast]
Tensor copysign(const Tensor& self, const Tensor& other);
Tensor copysign(const Tensor& self, const Scalar& other);
/// The next number of the dtype (float or double) from `self` towards `other`; not differentiable.
/// [in-place, dtypes: floating, shape: broadcast]
Tensor nextafter(const Tensor& self, const Tensor& other);
/// The larger (smaller) of each pair; the number, if only one of them is NaN.
/// [composition, shape: broadcast]
Tensor fmax(const Tensor& self, const Tensor& other);
Tensor fmin(const Tensor& self, const Tensor& other);
/// 0 below 0, 1 above it, `values` at 0; not differentiable. Throws Error for two dtypes.
/// [in-place, composition, shape: broadcast]
Tensor heaviside(const Tensor& self, const Tensor& values);
/// log(e^self + e^other) without overflow. Floating and complex dtypes.
/// [dtypes: floating complex, composition, shape: broadcast]
Tensor logaddexp(const Tensor& self, const Tensor& other);
/// log2(2^self + 2^other) without overflow. Floating dtypes only.
/// [dtypes: floating, composition, shape: broadcast]
Tensor logaddexp2(const Tensor& self, const Tensor& other);
/// self log(other), and 0 where self is 0 and other is a number.
/// [in-place, dtypes: floating complex integral bool, composition, shape: broadcast]
Tensor xlogy(const Tensor& self, const Tensor& other);
/// [in-place, dtypes: floating complex integral bool, composite, shape: broadcast]
Tensor xlogy(const Tensor& self, const Scalar& other);
/// [not in-place, dtypes: floating complex integral bool, composite, shape: broadcast]
Tensor xlogy(const Scalar& self, const Tensor& other);
/// pow in double, or complex double.
/// [in-place: own, dtypes: floating complex integral bool, composite, shape: broadcast]
Tensor float_power(const Tensor& self, const Tensor& exponent);
Tensor float_power(const Tensor& self, const Scalar& exponent);
/// [not in-place, dtypes: floating complex integral bool, composite, shape: broadcast]
Tensor float_power(const Scalar& self, const Tensor& exponent);
/// self * 2^other.
/// [in-place, dtypes: floating complex integral bool, composite, shape: broadcast]
Tensor ldexp(const Tensor& self, const Tensor& other);

/// Greatest common divisor and least common multiple of integers, not negative; 0 and 0 give 0.
/// [in-place, dtypes: integral, shape: broadcast]
Tensor gcd(const Tensor& self, const Tensor& other);
Tensor lcm(const Tensor& self, const Tensor& other);
/// Integers shifted by `other` bits. Shifting all bits out leaves 0, or -1 of a negative number
/// shifted right; so does shifting by less than 0.
/// [in-place, dtypes: integral bool, shape: broadcast]
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_left_shift(const Tensor& self, const Scalar& other);
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other);
Tensor bitwise_right_shift(const Tensor& self, const Scalar& other);
/// [not method, not in-place, dtypes: integral bool, shape: broadcast]
Tensor bitwise_left_shift(const Scalar& self, const Tensor& other);
Tensor bitwise_right_shift(const Scalar& self, const Tensor& other);
inline Tensor operator<<(const Tensor& a, const Tensor& b) { return bitwise_left_shift(a, b); }
inline Tensor operator<<(const Tensor& a, const Scalar& b) { return bitwise_left_shift(a, b); }
inline Tensor operator>>(const Tensor& a, const Tensor& b) { return bitwise_right_shift(a, b); }
inline Tensor operator>>(const Tensor& a, const Scalar& b) { return bitwise_right_shift(a, b); }

}  // namespace taeda
