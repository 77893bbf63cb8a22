// Second names that PyTorch gives to operations. Each is the method of the same name, and that one
// is another method.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// Names of abs, neg, trunc, acos, asin, atan, atan2, acosh, asinh and atanh.
inline Tensor absolute(const Tensor& self) { return self.abs(); }
inline Tensor negative(const Tensor& self) { return self.neg(); }
inline Tensor fix(const Tensor& self) { return self.trunc(); }
inline Tensor arccos(const Tensor& self) { return self.acos(); }
inline Tensor arcsin(const Tensor& self) { return self.asin(); }
inline Tensor arctan(const Tensor& self) { return self.atan(); }
inline Tensor arctan2(const Tensor& self, const Tensor& other) { return self.atan2(other); }
inline Tensor arccosh(const Tensor& self) { return self.acosh(); }
inline Tensor arcsinh(const Tensor& self) { return self.asinh(); }
inline Tensor arctanh(const Tensor& self) { return self.atanh(); }

/// Names of sub, mul and div.
inline Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) {
  return self.sub(other, alpha);
}
inline Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) {
  return self.sub(other, alpha);
}
inline Tensor multiply(const Tensor& self, const Tensor& other) { return self.mul(other); }
inline Tensor multiply(const Tensor& self, const Scalar& other) { return self.mul(other); }
inline Tensor divide(const Tensor& self, const Tensor& other, const char* rounding_mode = nullptr) {
  return self.div(other, rounding_mode);
}
inline Tensor divide(const Tensor& self, const Scalar& other, const char* rounding_mode = nullptr) {
  return self.div(other, rounding_mode);
}
inline Tensor true_divide(const Tensor& self, const Tensor& other) { return self.div(other); }
inline Tensor true_divide(const Tensor& self, const Scalar& other) { return self.div(other); }

/// Names of gt, ge, lt, le and ne.
inline Tensor greater(const Tensor& self, const Tensor& other) { return self.gt(other); }
inline Tensor greater(const Tensor& self, const Scalar& other) { return self.gt(other); }
inline Tensor greater_equal(const Tensor& self, const Tensor& other) { return self.ge(other); }
inline Tensor greater_equal(const Tensor& self, const Scalar& other) { return self.ge(other); }
inline Tensor less(const Tensor& self, const Tensor& other) { return self.lt(other); }
inline Tensor less(const Tensor& self, const Scalar& other) { return self.lt(other); }
inline Tensor less_equal(const Tensor& self, const Tensor& other) { return self.le(other); }
inline Tensor less_equal(const Tensor& self, const Scalar& other) { return self.le(other); }
inline Tensor not_equal(const Tensor& self, const Tensor& other) { return self.ne(other); }
inline Tensor not_equal(const Tensor& self, const Scalar& other) { return self.ne(other); }

/// Name of nonzero.
inline Tensor argwhere(const Tensor& self) { return self.nonzero(); }
/// The conjugate of the transposed matrices in the last two dimensions.
inline Tensor adjoint(const Tensor& self) { return self.adjoint(); }
/// Whether both have the same sizes.
inline bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.is_same_size(other);
}

}  // namespace taeda
