// Formulas of complex numbers, which operations take where their operands are complex
// (`complex_form` of a functor). One functor serves all functions of one number: beside their cost
// the choice costs nothing, and every dtype has one kernel for all.
#pragma once

#include <cmath>

#include "taeda/base/complex.h"
#include "taeda/kernels/pointwise.h"

// C's functions have the right branches and limits; on a GPU those of the CUDA toolkit's library.
#if defined(__CUDACC__)
#include <thrust/complex.h>
#define TAEDA_COMPLEX_LIBRARY thrust
#else
#include <complex>
#define TAEDA_COMPLEX_LIBRARY std
#endif

namespace taeda::inline v0_2 {

namespace detail {

namespace complex_library = TAEDA_COMPLEX_LIBRARY;
#undef TAEDA_COMPLEX_LIBRARY

template <class T>
using LibraryComplex = complex_library::complex<T>;

/// log(1 + z), also where z is small.
template <class T>
TAEDA_HD LibraryComplex<T> complex_log1p(LibraryComplex<T> z) {
  const T x = z.real(), y = z.imag();
  const T size = std::hypot(x + 1, y);
  const bool near_one = size > T(0.5) && size < T(2);
  return {near_one ? T(0.5) * std::log1p(x * (x + 2) + y * y) : std::log(size),
          std::atan2(y, x + 1)};
}

/// e^z - 1, also where z is small.
template <class T>
TAEDA_HD LibraryComplex<T> complex_expm1(LibraryComplex<T> z) {
  const T x = z.real(), y = z.imag();
  // The library knows infinities, and where e^x overflows though the parts do not.
  if (!(x < T(40)) || !(x > T(-40))) {
    const LibraryComplex<T> power = complex_library::exp(z);
    return {power.real() - T(1), power.imag()};
  }
  const T half = std::sin(y / 2);
  return {std::expm1(x) * std::cos(y) - 2 * half * half, y == T(0) ? y : std::exp(x) * std::sin(y)};
}

}  // namespace detail

enum class ComplexFunction : int32_t {
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  Cos,
  Cosh,
  Exp2,
  Expm1,
  Log,
  Log10,
  Log1p,
  Log2,
  Rsqrt,
  Sigmoid,
  Sin,
  Sinh,
  Sqrt,
  Tan,
  Tanh,
};

/// A function of one complex number.
struct ComplexOfOne {
  static constexpr const char* name = "complex";
  static constexpr int arity = 1;
  using Types = ComplexTypes;
  ComplexFunction function = ComplexFunction::Log;

  template <class T>
  TAEDA_NOINLINE TAEDA_HD complex<T> operator()(complex<T> x) const {
    namespace library = detail::complex_library;
    using Number = detail::LibraryComplex<T>;
    constexpr T ln2 = T(0.693147180559945309417);
    const Number z(x.re, x.im), one(1);
    Number y;
    switch (function) {
      case ComplexFunction::Acos: y = library::acos(z); break;
      case ComplexFunction::Acosh: y = library::acosh(z); break;
      case ComplexFunction::Asin: y = library::asin(z); break;
      case ComplexFunction::Asinh: y = library::asinh(z); break;
      case ComplexFunction::Atan: y = library::atan(z); break;
      case ComplexFunction::Atanh: y = library::atanh(z); break;
      case ComplexFunction::Cos: y = library::cos(z); break;
      case ComplexFunction::Cosh: y = library::cosh(z); break;
      case ComplexFunction::Exp2: y = library::exp(z * ln2); break;
      case ComplexFunction::Expm1: y = detail::complex_expm1(z); break;
      case ComplexFunction::Log: y = library::log(z); break;
      case ComplexFunction::Log10: y = library::log10(z); break;
      case ComplexFunction::Log1p: y = detail::complex_log1p(z); break;
      case ComplexFunction::Log2: y = library::log(z) / ln2; break;
      case ComplexFunction::Rsqrt: y = one / library::sqrt(z); break;
      case ComplexFunction::Sigmoid: y = one / (one + library::exp(-z)); break;
      case ComplexFunction::Sin: y = library::sin(z); break;
      case ComplexFunction::Sinh: y = library::sinh(z); break;
      case ComplexFunction::Sqrt: y = library::sqrt(z); break;
      case ComplexFunction::Tan: y = library::tan(z); break;
      case ComplexFunction::Tanh: y = library::tanh(z); break;
    }
    return {y.real(), y.imag()};
  }
};

/// a^b.
struct ComplexPow : Pointwise<2, ComplexTypes> {
  static constexpr const char* name = "complex_pow";

  template <class T>
  TAEDA_NOINLINE TAEDA_HD complex<T> operator()(complex<T> a, complex<T> b) const {
    using Number = detail::LibraryComplex<T>;
    if (b.re == T(0) && b.im == T(0)) return T(1);  // of 0, too
    const Number y = detail::complex_library::pow(Number(a.re, a.im), Number(b.re, b.im));
    return {y.real(), y.imag()};
  }
};

using ComplexOps = OpList<ComplexOfOne, ComplexPow>;

}  // namespace taeda::inline v0_2
