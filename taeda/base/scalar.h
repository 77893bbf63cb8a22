// A single number of any dtype class, as the scalar argument of operations.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2 {

/// Holds a double, int64, bool or complex<double>, and a uint64 of which int64 has none. Which one
/// it holds matters to type promotion. By default 0, an int64; `to` throws Error for what T cannot
/// hold.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(float v) : Scalar(static_cast<double>(v)) {}
  Scalar(double v) : kind_(kDouble) { value_.d = v; }
  Scalar(Half v) : Scalar(static_cast<double>(float(v))) {}
  Scalar(BFloat16 v) : Scalar(static_cast<double>(float(v))) {}
  template <std::same_as<bool> B>  // and nothing that is a bool by C++'s rules, like a pointer
  Scalar(B v) : kind_(kBool) {
    value_.i = v;
  }
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Scalar(T v)
      : kind_(std::is_unsigned_v<T> && static_cast<int64_t>(v) < 0 ? kUInt64 : kLong) {
    value_.i = static_cast<int64_t>(v);
  }
  template <class T>
  Scalar(std::complex<T> v) : kind_(kComplexDouble) {
    value_.d = v.real();
    imag_ = v.imag();
  }
  template <class T>
  Scalar(complex<T> v) : Scalar(std::complex<double>(v.re, v.im)) {}

  /// kDouble, kLong, kUInt64, kBool or kComplexDouble.
  ScalarType type() const { return kind_; }
  bool is_floating_point() const { return kind_ == kDouble; }
  bool is_integral(bool include_bool = false) const {
    return kind_ == kLong || kind_ == kUInt64 || (include_bool && kind_ == kBool);
  }
  bool is_boolean() const { return kind_ == kBool; }
  bool is_complex() const { return kind_ == kComplexDouble; }

  /// The number as a T. Throws Error, in PyTorch's words, where T has no such number: one that is
  /// too large, a fraction's NaN for an integer, an imaginary part for a real T. A negative integer
  /// becomes an unsigned one modulo 2^n, as it does there.
  template <class T>
  T to() const {
    check_fits(range_of<T>());
    return cast<T>();
  }
  /// The number as a T by C++'s conversions, as an operand next to a tensor of Ts is one; the
  /// imaginary part is dropped for real T.
  /// Never an error: a number outside of T's range is undefined, as in C++; `to` throws one.
  template <class T>
  T cast() const {
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
      if (kind_ == kDouble || kind_ == kComplexDouble) return static_cast<T>(value_.d);
      return kind_ == kUInt64 ? static_cast<T>(static_cast<uint64_t>(value_.i))
                              : static_cast<T>(value_.i);
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  int8_t toChar() const { return to<int8_t>(); }
  uint8_t toByte() const { return to<uint8_t>(); }
  int16_t toShort() const { return to<int16_t>(); }
  Half toHalf() const { return to<Half>(); }
  BFloat16 toBFloat16() const { return to<BFloat16>(); }
  complex<float> toComplexFloat() const { return to<complex<float>>(); }
  complex<double> toComplexDouble() const { return to<complex<double>>(); }

  // libtorch's names.
  bool isFloatingPoint() const { return is_floating_point(); }
  bool isIntegral(bool include_bool = false) const { return is_integral(include_bool); }
  bool isComplex() const { return is_complex(); }
  bool isBoolean() const { return is_boolean(); }
  Scalar conj() const {
    return is_complex() ? Scalar(std::conj(to<std::complex<double>>())) : *this;
  }
  Scalar log() const {
    return is_complex() ? Scalar(std::log(to<std::complex<double>>())) : Scalar(std::log(real()));
  }

  Scalar operator-() const {
    if (kind_ == kComplexDouble) return Scalar(-to<std::complex<double>>());
    return kind_ == kDouble ? Scalar(-value_.d) : Scalar(-value_.i);
  }
  /// Whether it is this number; a complex one never is.
  bool equal(double v) const { return !is_complex() && real() == v; }

 private:
  /// The numbers of a type.
  struct Range {
    const char* type;
    double lowest, most;
    bool integral, complex;
  };
  template <class T>
  static constexpr Range range_of() {
    if constexpr (std::is_same_v<T, bool>) {
      return {"bool", 0, 0, false, true};
    } else if constexpr (std::is_same_v<T, Half>) {
      return {"c10::Half", -65504., 65504., false, false};
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      return {"c10::BFloat16", -0x1.fep127, 0x1.fep127, false, false};
    } else if constexpr (std::is_integral_v<T>) {
      // The largest number of 64 bits that is a double as well.
      constexpr double most = sizeof(T) < 8
                                  ? static_cast<double>(std::numeric_limits<T>::max())
                                  : (std::is_signed_v<T> ? 0x1p63 - 1024. : 0x1p64 - 2048.);
      constexpr const char* names[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                           {"int8_t", "int16_t", "int", "int64_t"}};
      return {names[std::is_signed_v<T>][std::bit_width(sizeof(T)) - 1],
              static_cast<double>(std::numeric_limits<T>::lowest()), most, true, false};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {sizeof(T) == 4 ? "float" : "double",
              static_cast<double>(std::numeric_limits<T>::lowest()),
              static_cast<double>(std::numeric_limits<T>::max()), false, false};
    } else {
      Range out = range_of<typename T::value_type>();
      out.type = sizeof(T) == 8 ? "c10::complex<float>" : "c10::complex<double>";
      out.complex = true;
      return out;
    }
  }
  bool fits(const Range& range) const;
  void check_fits(const Range& range) const;

  double real() const { return cast<double>(); }

  union {
    double d;
    int64_t i;
  } value_;
  double imag_ = 0;
  ScalarType kind_;
};

std::ostream& operator<<(std::ostream& out, const Scalar& s);

}  // namespace taeda::inline v0_2
