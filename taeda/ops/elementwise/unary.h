// Mathematics of one tensor, element by element. Integers and bool compute in the default floating
// dtype where the result is not an integer.
// [operations, method, out, shape: same]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// |x|; for complex numbers the magnitude, a real tensor.
/// [in-place: own, also: absolute]
Tensor abs(const Tensor& self);
/// -x. Throws Error for bool.
/// [in-place: Neg, also: negative, dtypes: floating complex integral]
Tensor neg(const Tensor& self);
/// -1, 0 or 1; 0 for NaN. Its gradient is zero.
/// [in-place: Sign, dtypes: floating integral bool]
Tensor sign(const Tensor& self);
/// e^x.
/// [in-place: own, autocast: float32 accelerators]
Tensor exp(const Tensor& self);
/// 2^x.
/// [in-place: Exp2]
Tensor exp2(const Tensor& self);
/// e^x - 1, exact for small x.
/// [in-place: Expm1, autocast: float32 accelerators]
Tensor expm1(const Tensor& self);
/// Natural logarithm.
/// [in-place: Log, autocast: float32 accelerators]
Tensor log(const Tensor& self);
/// Logarithm to base 2.
/// [in-place: Log2, autocast: float32 accelerators]
Tensor log2(const Tensor& self);
/// Logarithm to base 10.
/// [in-place: Log10, autocast: float32 accelerators]
Tensor log10(const Tensor& self);
/// log(1 + x), exact for small x.
/// [in-place: Log1p, autocast: float32 accelerators]
Tensor log1p(const Tensor& self);
/// Square root; NaN below zero.
/// [in-place: own]
Tensor sqrt(const Tensor& self);
/// 1 / sqrt(x).
/// [in-place: own, autocast: float32 accelerators]
Tensor rsqrt(const Tensor& self);
/// x * x.
/// [in-place: Square]
Tensor square(const Tensor& self);
/// 1 / x.
/// [in-place: own, autocast: float32 accelerators]
Tensor reciprocal(const Tensor& self);
/// Sine of x radians.
/// [in-place: Sin]
Tensor sin(const Tensor& self);
/// Cosine of x radians.
/// [in-place: Cos]
Tensor cos(const Tensor& self);
/// Tangent of x radians.
/// [in-place: Tan, autocast: float32 accelerators]
Tensor tan(const Tensor& self);
/// Inverse sine, in radians.
/// [in-place: Asin, autocast: float32 accelerators, also: arcsin]
Tensor asin(const Tensor& self);
/// Inverse cosine, in radians.
/// [in-place: Acos, autocast: float32 accelerators, also: arccos]
Tensor acos(const Tensor& self);
/// Inverse tangent, in radians.
/// [in-place: Atan, also: arctan]
Tensor atan(const Tensor& self);
/// Hyperbolic sine.
/// [in-place: Sinh, autocast: float32 accelerators]
Tensor sinh(const Tensor& self);
/// Hyperbolic cosine.
/// [in-place: Cosh, autocast: float32 accelerators]
Tensor cosh(const Tensor& self);
/// Hyperbolic tangent.
/// [in-place: own]
Tensor tanh(const Tensor& self);
/// 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x.
/// [in-place: Erf, dtypes: floating integral bool]
Tensor erf(const Tensor& self);
/// 1 - erf(x), exact for large x.
/// [in-place: Erfc, dtypes: floating integral bool]
Tensor erfc(const Tensor& self);
/// Rounds down. Gradients of the rounding functions are zero.
/// [in-place: Floor, dtypes: floating integral]
Tensor floor(const Tensor& self);
/// Rounds up.
/// [in-place: Ceil, dtypes: floating integral]
Tensor ceil(const Tensor& self);
/// Rounds to the nearest integer, halves to even.
/// [in-place: Round, dtypes: floating integral]
Tensor round(const Tensor& self);
/// To `decimals` places behind the point, or before it if negative.
/// [in-place, dtypes: floating]
Tensor round(const Tensor& self, int64_t decimals);
/// Rounds towards zero.
/// [in-place: Trunc, also: fix, dtypes: floating integral]
Tensor trunc(const Tensor& self);
/// x - trunc(x).
/// [in-place: Frac, dtypes: floating]
Tensor frac(const Tensor& self);
/// 1 / (1 + e^-x).
/// [in-place: own]
Tensor sigmoid(const Tensor& self);
/// The complex conjugate; a real tensor is its own.
Tensor conj(const Tensor& self);
/// The angle of each complex number in radians, in (-pi, pi]; its gradient at 0 is 0. Of a real
/// number: pi below zero, else 0, NaN for NaN, with a gradient of zero.
/// [composite]
Tensor angle(const Tensor& self);
/// min(max(x, low), high), where a bound may be missing; NaN stays NaN. The gradient passes where x
/// lies between the bounds, and goes to a tensor bound where it does not; x and a tensor bound that
/// are equal share it. Throws Error if both are missing.
/// [in-place: own, also: clip, dtypes: floating integral bool]
Tensor clamp(const Tensor& self, const OptionalScalar& min, const OptionalScalar& max = {});
/// [in-place: own, also: clip, dtypes: floating integral bool, shape: broadcast]
Tensor clamp(const Tensor& self, const std::optional<Tensor>& min = {},
             const std::optional<Tensor>& max = {});
/// [in-place: own, not also, dtypes: floating integral bool, shape: broadcast]
Tensor clamp_min(const Tensor& self, const Scalar& min);
Tensor clamp_max(const Tensor& self, const Scalar& max);
Tensor clamp_min(const Tensor& self, const Tensor& min);
Tensor clamp_max(const Tensor& self, const Tensor& max);
/// Replaces NaN (by default with 0) and the infinities (with the dtype's largest and lowest
/// number).
/// [in-place]
Tensor nan_to_num(const Tensor& self, std::optional<double> nan = {},
                  std::optional<double> posinf = {}, std::optional<double> neginf = {});

/// grad * (1 - result^2) and grad * result (1 - result): gradients of tanh and sigmoid from their
/// results.
/// [not method, not out]
Tensor tanh_backward(const Tensor& grad, const Tensor& result);
Tensor sigmoid_backward(const Tensor& grad, const Tensor& result);

}  // namespace taeda
