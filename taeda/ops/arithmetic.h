// Arithmetic between tensors and numbers. Operands broadcast and are promoted as in PyTorch; in
// place, a result that does not fit into the tensor's dtype is an Error. Every function here is a
// method, too.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// self + alpha * other.
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// self - alpha * other. Throws Error for bool operands.
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// other - alpha * self.
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// self * other.
Tensor mul(const Tensor& self, const Tensor& other);
Tensor mul(const Tensor& self, const Scalar& other);
/// self / other. Without a rounding mode integers give floats; "trunc" rounds towards zero, "floor"
/// down. Throws Error for another mode and, on the CPU, for integers divided by zero when rounding
/// or taking a remainder; on accelerators, which are not waited for, the result there is 0.
Tensor div(const Tensor& self, const Tensor& other, const char* rounding_mode = nullptr);
Tensor div(const Tensor& self, const Scalar& other, const char* rounding_mode = nullptr);
/// Python's //; not differentiable.
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, const Scalar& other);
/// Python's %: the result has the sign of `other`.
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, const Scalar& other);
Tensor remainder(const Scalar& self, const Tensor& other);
/// C's fmod: the result has the sign of `self`.
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, const Scalar& other);
/// self to the power of `exponent`. Throws Error for an integer tensor and a negative whole number.
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);
/// The larger (smaller) of each pair, NaN if one is NaN; of equal ones each gets half the gradient.
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);
inline Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
inline Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
/// Angle of the point (other, self) in radians, in (-pi, pi].
Tensor atan2(const Tensor& self, const Tensor& other);
/// sqrt(self^2 + other^2) without overflow.
Tensor hypot(const Tensor& self, const Tensor& other);
/// start + weight (end - start). All must have one dtype.
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& start, const Tensor& end, const Scalar& weight);
/// self + value * t1 * t2.
Tensor addcmul(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value = 1);
/// self + value * t1 / t2. Throws Error if all operands are integers.
Tensor addcdiv(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value = 1);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return div(a, b); }
/// a / b for every element of b.
Tensor operator/(const Scalar& a, const Tensor& b);
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator%(const Tensor& a, const Scalar& b) { return remainder(a, b); }
inline Tensor operator%(const Scalar& a, const Tensor& b) { return remainder(a, b); }

}  // namespace taeda
