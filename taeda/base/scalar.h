// A single number of any dtype class, as the scalar argument of operations.
#pragma once

#include <complex>
#include <cstdint>
#include <iosfwd>

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2 {

/// Holds a double, int64, bool or complex<double>. Which one it holds matters to type promotion.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(float v) : Scalar(static_cast<double>(v)) {}
  Scalar(double v) : kind_(kDouble) { value_.d = v; }
  Scalar(Half v) : Scalar(static_cast<double>(float(v))) {}
  Scalar(BFloat16 v) : Scalar(static_cast<double>(float(v))) {}
  Scalar(bool v) : kind_(kBool) { value_.i = v; }
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Scalar(T v) : kind_(kLong) {
    value_.i = static_cast<int64_t>(v);
  }
  template <class T>
  Scalar(std::complex<T> v) : kind_(kComplexDouble) {
    value_.d = v.real();
    imag_ = v.imag();
  }
  template <class T>
  Scalar(complex<T> v) : Scalar(std::complex<double>(v.re, v.im)) {}

  /// kDouble, kLong, kBool or kComplexDouble.
  ScalarType type() const { return kind_; }
  bool is_floating_point() const { return kind_ == kDouble; }
  bool is_integral(bool include_bool = false) const {
    return kind_ == kLong || (include_bool && kind_ == kBool);
  }
  bool is_boolean() const { return kind_ == kBool; }
  bool is_complex() const { return kind_ == kComplexDouble; }

  /// Converts with C++ conversion rules; the imaginary part is dropped for real T.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return kind_ == kDouble || kind_ == kComplexDouble ? value_.d != 0 || imag_ != 0
                                                         : value_.i != 0;
    } else if constexpr (std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>) {
      using V = typename T::value_type;
      return T(static_cast<V>(real()), static_cast<V>(imag_));
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      using V = typename T::value_type;
      return T(static_cast<V>(real()), static_cast<V>(imag_));
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(static_cast<float>(real()));
    } else {
      return kind_ == kDouble || kind_ == kComplexDouble ? static_cast<T>(value_.d)
                                                         : static_cast<T>(value_.i);
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }

  Scalar operator-() const {
    if (kind_ == kComplexDouble) return Scalar(-to<std::complex<double>>());
    return kind_ == kDouble ? Scalar(-value_.d) : Scalar(-value_.i);
  }
  bool equal(double v) const { return !is_complex() && real() == v; }

 private:
  double real() const {
    return kind_ == kDouble || kind_ == kComplexDouble ? value_.d : static_cast<double>(value_.i);
  }

  union {
    double d;
    int64_t i;
  } value_;
  double imag_ = 0;
  ScalarType kind_;
};

std::ostream& operator<<(std::ostream& out, const Scalar& s);

}  // namespace taeda
