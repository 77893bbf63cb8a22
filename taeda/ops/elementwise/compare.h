// Comparison, logic and selection. Comparisons give bool tensors and have no gradient.
// [operations, method, out, shape: broadcast]
#pragma once

#include <concepts>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// self == other, element by element; NaN equals nothing.
/// [in-place: Eq]
Tensor eq(const Tensor& self, const Tensor& other);
Tensor eq(const Tensor& self, const Scalar& other);
/// self != other, element by element; NaN differs from everything.
/// [in-place: Ne, also: not_equal]
Tensor ne(const Tensor& self, const Tensor& other);
Tensor ne(const Tensor& self, const Scalar& other);
/// self < other, element by element; false for NaN. Throws NotImplementedError for complex
/// operands, as le, gt and ge do.
/// [in-place: Lt, also: less, dtypes: floating integral bool]
Tensor lt(const Tensor& self, const Tensor& other);
Tensor lt(const Tensor& self, const Scalar& other);
/// self <= other, element by element; false for NaN.
/// [in-place: Le, also: less_equal, dtypes: floating integral bool]
Tensor le(const Tensor& self, const Tensor& other);
Tensor le(const Tensor& self, const Scalar& other);
/// self > other, element by element; false for NaN.
/// [in-place: Gt, also: greater, dtypes: floating integral bool]
Tensor gt(const Tensor& self, const Tensor& other);
Tensor gt(const Tensor& self, const Scalar& other);
/// self >= other, element by element; false for NaN.
/// [in-place: Ge, also: greater_equal, dtypes: floating integral bool]
Tensor ge(const Tensor& self, const Tensor& other);
Tensor ge(const Tensor& self, const Scalar& other);

/// Logic on any dtype: everything but zero is true.
/// [in-place: own]
Tensor logical_and(const Tensor& self, const Tensor& other);
Tensor logical_or(const Tensor& self, const Tensor& other);
Tensor logical_xor(const Tensor& self, const Tensor& other);
/// [in-place: own, shape: same]
Tensor logical_not(const Tensor& self);
/// Bit by bit on integers; on bool the same as the logical operation.
/// [in-place: BitwiseAnd, dtypes: integral bool]
Tensor bitwise_and(const Tensor& self, const Tensor& other);
Tensor bitwise_and(const Tensor& self, const Scalar& other);
/// [in-place: BitwiseOr, dtypes: integral bool]
Tensor bitwise_or(const Tensor& self, const Tensor& other);
Tensor bitwise_or(const Tensor& self, const Scalar& other);
/// [in-place: BitwiseXor, dtypes: integral bool]
Tensor bitwise_xor(const Tensor& self, const Tensor& other);
Tensor bitwise_xor(const Tensor& self, const Scalar& other);
/// [not method, dtypes: integral bool]
inline Tensor bitwise_and(const Scalar& self, const Tensor& other) {
  return bitwise_and(other, self);
}
inline Tensor bitwise_or(const Scalar& self, const Tensor& other) {
  return bitwise_or(other, self);
}
inline Tensor bitwise_xor(const Scalar& self, const Tensor& other) {
  return bitwise_xor(other, self);
}
/// [in-place: BitwiseNot, dtypes: integral bool, shape: same]
Tensor bitwise_not(const Tensor& self);

/// Whether each element is not a number, infinite, or neither; a complex one if either part is.
/// [shape: same]
Tensor isnan(const Tensor& self);
Tensor isinf(const Tensor& self);
Tensor isfinite(const Tensor& self);

/// condition ? self : other, all three broadcast. Throws Error unless `condition` is a bool tensor.
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
/// [not method]
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
/// [not in-place]
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other);

/// Whether both have the same sizes and the same elements: one bool.
/// [not shape]
bool equal(const Tensor& self, const Tensor& other);
/// |self - other| <= atol + rtol |other| for each element. Throws Error for different dtypes, and
/// ValueError for a negative tolerance.
Tensor isclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
/// Whether `isclose` holds for all elements: one bool. The tensors broadcast; throws Error where
/// they do not.
/// [composite, not shape]
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator==(const Tensor& a, const Scalar& b) { return eq(a, b); }
inline Tensor operator==(const Scalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator!=(const Tensor& a, const Scalar& b) { return ne(a, b); }
inline Tensor operator!=(const Scalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return lt(a, b); }
inline Tensor operator<(const Scalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return le(a, b); }
inline Tensor operator<=(const Scalar& a, const Tensor& b) { return ge(b, a); }
/// As gt, ge, bitwise_and, bitwise_or, bitwise_xor, bitwise_not.
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return gt(a, b); }
inline Tensor operator>(const Scalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return ge(a, b); }
inline Tensor operator>=(const Scalar& a, const Tensor& b) { return le(b, a); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator&(const Tensor& a, const Scalar& b) { return bitwise_and(a, b); }
inline Tensor operator&(const Scalar& a, const Tensor& b) { return bitwise_and(b, a); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator|(const Tensor& a, const Scalar& b) { return bitwise_or(a, b); }
inline Tensor operator|(const Scalar& a, const Tensor& b) { return bitwise_or(b, a); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }
inline Tensor operator^(const Tensor& a, const Scalar& b) { return bitwise_xor(a, b); }
inline Tensor operator^(const Scalar& a, const Tensor& b) { return bitwise_xor(b, a); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
// Of tensors alone: `!maybe` asks whether an optional tensor is absent.
template <std::derived_from<Tensor> T>
Tensor operator!(const T& a) {
  return logical_not(a);
}

}  // namespace taeda
