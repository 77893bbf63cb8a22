// Mathematics of one tensor, element by element. Integers and bool compute in the default floating
// dtype where the result is not an integer. Every function here is a method, too.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// |x|; for complex numbers the magnitude, a real tensor.
Tensor abs(const Tensor& self);
/// -x. Throws Error for bool.
Tensor neg(const Tensor& self);
/// -1, 0 or 1; NaN for NaN. Its gradient is zero.
Tensor sign(const Tensor& self);
/// e^x.
Tensor exp(const Tensor& self);
/// 2^x.
Tensor exp2(const Tensor& self);
/// e^x - 1, exact for small x.
Tensor expm1(const Tensor& self);
/// Natural logarithm.
Tensor log(const Tensor& self);
/// Logarithm to base 2.
Tensor log2(const Tensor& self);
/// Logarithm to base 10.
Tensor log10(const Tensor& self);
/// log(1 + x), exact for small x.
Tensor log1p(const Tensor& self);
/// Square root; NaN below zero.
Tensor sqrt(const Tensor& self);
/// 1 / sqrt(x).
Tensor rsqrt(const Tensor& self);
/// x * x.
Tensor square(const Tensor& self);
/// 1 / x.
Tensor reciprocal(const Tensor& self);
/// Sine of x radians.
Tensor sin(const Tensor& self);
/// Cosine of x radians.
Tensor cos(const Tensor& self);
/// Tangent of x radians.
Tensor tan(const Tensor& self);
/// Inverse sine, in radians.
Tensor asin(const Tensor& self);
/// Inverse cosine, in radians.
Tensor acos(const Tensor& self);
/// Inverse tangent, in radians.
Tensor atan(const Tensor& self);
/// Hyperbolic sine.
Tensor sinh(const Tensor& self);
/// Hyperbolic cosine.
Tensor cosh(const Tensor& self);
/// Hyperbolic tangent.
Tensor tanh(const Tensor& self);
/// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
Tensor erf(const Tensor& self);
/// 1 - erf(x), exact for large x.
Tensor erfc(const Tensor& self);
/// Rounds down. Gradients of the rounding functions are zero.
Tensor floor(const Tensor& self);
/// Rounds up.
Tensor ceil(const Tensor& self);
/// Rounds to the nearest integer, halves to even.
Tensor round(const Tensor& self);
/// Rounds towards zero.
Tensor trunc(const Tensor& self);
/// x - trunc(x).
Tensor frac(const Tensor& self);
/// 1 / (1 + e^-x).
Tensor sigmoid(const Tensor& self);
/// The complex conjugate; a real tensor is its own.
Tensor conj(const Tensor& self);
/// The angle of each complex number in radians, in (-pi, pi]; its gradient at 0 is 0. Of a real
/// number: pi below zero, else 0, NaN for NaN, with a gradient of zero.
Tensor angle(const Tensor& self);
/// min(max(x, low), high), where a bound may be missing; NaN stays NaN. The gradient passes where x
/// lies within the bounds, and goes to a tensor bound where it does not. Throws Error if both are
/// missing.
Tensor clamp(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max = {});
Tensor clamp(const Tensor& self, const std::optional<Tensor>& min,
             const std::optional<Tensor>& max = {});
Tensor clamp_min(const Tensor& self, const Scalar& min);
Tensor clamp_max(const Tensor& self, const Scalar& max);
inline Tensor clip(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max = {}) {
  return clamp(self, min, max);
}
/// Replaces NaN (by default with 0) and the infinities (with the dtype's largest and lowest
/// number).
Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {},
                  std::optional<double> posinf = {}, std::optional<double> neginf = {});

/// grad * (1 - result^2) and grad * result (1 - result): gradients of tanh and sigmoid from their
/// results.
Tensor tanh_backward(const Tensor& grad, const Tensor& result);
Tensor sigmoid_backward(const Tensor& grad, const Tensor& result);

}  // namespace taeda
