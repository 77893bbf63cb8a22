// A complex number that works on the host and in device code.
#pragma once

#include <complex>
#include <iosfwd>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2 {

template <class T>
struct alignas(2 * sizeof(T)) complex {
  using value_type = T;
  T re = 0, im = 0;

  complex() = default;
  TAEDA_HD constexpr complex(T real, T imag = 0) : re(real), im(imag) {}
  template <class U>
  TAEDA_HD constexpr explicit complex(const complex<U>& o)
      : re(static_cast<T>(o.re)), im(static_cast<T>(o.im)) {}
  complex(const std::complex<T>& o) : re(o.real()), im(o.imag()) {}
  operator std::complex<T>() const { return {re, im}; }

  TAEDA_HD constexpr T real() const { return re; }
  TAEDA_HD constexpr T imag() const { return im; }

  friend TAEDA_HD constexpr complex operator+(complex a, complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend TAEDA_HD constexpr complex operator-(complex a, complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend TAEDA_HD constexpr complex operator*(complex a, complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend TAEDA_HD constexpr complex operator/(complex a, complex b) {
    const T n = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
  }
  TAEDA_HD constexpr complex operator-() const { return {-re, -im}; }
  TAEDA_HD complex& operator+=(complex o) { return *this = *this + o; }
  TAEDA_HD complex& operator*=(complex o) { return *this = *this * o; }
  friend TAEDA_HD constexpr bool operator==(complex a, complex b) {
    return a.re == b.re && a.im == b.im;
  }
};

/// "(1,2)", as the standard library prints them.
template <class T>
std::ostream& operator<<(std::ostream& out, const complex<T>& z) {
  return out << std::complex<T>(z);
}

}  // namespace taeda
