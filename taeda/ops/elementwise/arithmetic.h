// Arithmetic between tensors and numbers. Operands broadcast and are promoted as in PyTorch; in
// place, a result that does not fit into the tensor's dtype is an Error.
// [operations, method, out, keyword: alpha rounding_mode value, shape: broadcast]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// self + alpha * other.
/// [in-place: own]
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// self - alpha * other. Throws Error for bool operands.
/// [in-place: own, also: subtract, dtypes: floating complex integral]
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// other - alpha * self.
/// [not method, dtypes: floating complex integral]
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
inline Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  return sub(other, self, alpha);
}
/// self * other, element by element.
/// [in-place: own, also: multiply]
Tensor mul(const Tensor& self, const Tensor& other);
Tensor mul(const Tensor& self, const Scalar& other);
/// self / other. Without a rounding mode integers give floats; "trunc" rounds towards zero, "floor"
/// down. Throws Error for another mode and, on the CPU, for integers divided by zero when rounding
/// or taking a remainder; on accelerators, which are not waited for, the result there is 0.
/// [in-place: own, also: divide]
Tensor div(const Tensor& self, const Tensor& other,
           std::optional<std::string_view> rounding_mode = {});
Tensor div(const Tensor& self, const Scalar& other,
           std::optional<std::string_view> rounding_mode = {});
/// `div` without a rounding mode.
/// [in-place: own]
inline Tensor true_divide(const Tensor& self, const Tensor& other) { return div(self, other); }
inline Tensor true_divide(const Tensor& self, const Scalar& other) { return div(self, other); }
/// Python's //; not differentiable.
/// [in-place, dtypes: floating integral bool]
Tensor floor_divide(const Tensor& self, const Tensor& other);
Tensor floor_divide(const Tensor& self, const Scalar& other);
/// Python's %: the result has the sign of `other`.
/// [in-place, dtypes: floating integral bool]
Tensor remainder(const Tensor& self, const Tensor& other);
Tensor remainder(const Tensor& self, const Scalar& other);
/// [not in-place, dtypes: floating integral bool]
Tensor remainder(const Scalar& self, const Tensor& other);
/// C's fmod: the result has the sign of `self`.
/// [in-place, dtypes: floating integral bool]
Tensor fmod(const Tensor& self, const Tensor& other);
Tensor fmod(const Tensor& self, const Scalar& other);
/// self to the power of `exponent`. Throws Error for an integer tensor and a negative whole number.
/// [in-place: own, autocast: float32 accelerators]
Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
/// [not in-place, autocast: float32 accelerators]
Tensor pow(const Scalar& self, const Tensor& exponent);
/// The larger (smaller) of each pair, NaN if one is NaN; of equal ones each gets half the gradient.
/// [dtypes: floating integral bool]
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor minimum(const Tensor& self, const Tensor& other);
inline Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
inline Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
/// Angle of the point (other, self) in radians, in (-pi, pi].
/// [in-place: Atan2, also: arctan2, dtypes: floating integral bool]
Tensor atan2(const Tensor& self, const Tensor& other);
/// sqrt(self^2 + other^2) without overflow.
/// [in-place: Hypot, dtypes: floating]
Tensor hypot(const Tensor& self, const Tensor& other);
/// self + weight (end - self). All must have one dtype.
/// [in-place, dtypes: floating complex]
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);
/// [in-place: own, dtypes: floating complex]
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);
/// self + value * tensor1 * tensor2.
/// [in-place: own]
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);
/// self + value * tensor1 / tensor2. Throws Error if all operands are integers.
/// [in-place: own, dtypes: floating complex]
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);

/// As add, sub, mul.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
/// `true` is 1 here, as for C++.
inline Tensor operator-(const Scalar& a, const Tensor& b) {
  return rsub(b, a.is_boolean() ? Scalar(a.to<int64_t>()) : a);
}
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
