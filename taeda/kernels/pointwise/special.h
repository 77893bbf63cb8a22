// Formulas of inverse hyperbolic and gamma functions, of neighbouring numbers, and of whole
// numbers.
#pragma once

#include <cmath>

#include "taeda/kernels/math.h"
#include "taeda/kernels/pointwise.h"
#include "taeda/kernels/pointwise/complex.h"
#include "taeda/kernels/pointwise/digamma.h"
#include "taeda/kernels/pointwise/lgamma.h"

namespace taeda::inline v0_2 {

struct Acosh : FloatPointwise<1> {
  static constexpr const char* name = "acosh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Acosh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::acosh(x);
  }
};

struct Asinh : FloatPointwise<1> {
  static constexpr const char* name = "asinh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Asinh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return std::asinh(x);
  }
};

struct Atanh : FloatPointwise<1> {
  static constexpr const char* name = "atanh";
  static constexpr ComplexOfOne complex_form{ComplexFunction::Atanh};
  template <class T>
  TAEDA_HD T operator()(T x) const {
    return math::atanh(x);
  }
};

/// The size of a with the sign of b.
struct CopySign : FloatPointwise<2> {
  static constexpr const char* name = "copysign";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};

/// log |Gamma(x)|.
struct Lgamma : FloatPointwise<1> {
  static constexpr const char* name = "lgamma";
  static bool fits(float x) { return detail::fits_lgamma(x); }
  float bounded(float x) const { return detail::bounded_lgamma(x); }
  TAEDA_HD float operator()(float x) const {
#if !defined(__CUDA_ARCH__)
    if (fits(x)) return bounded(x);  // the same bits, whatever stands beside it
#endif
    return static_cast<float>((*this)(double(x)));
  }
  TAEDA_HD double operator()(double x) const {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
    return std::lgamma(x);
#else
    int sign;  // std::lgamma writes it to a global variable, which threads would share
    return ::lgamma_r(x, &sign);
#endif
  }
};

/// The derivative of log Gamma(x): by the reflection formula below 0, the recurrence up to 10, then
/// the asymptotic series (Abramowitz and Stegun, 6.3.7, 6.3.5 and 6.3.18).
struct Digamma : FloatPointwise<1> {
  static constexpr const char* name = "digamma";
  static bool fits(float x) { return detail::fits_lgamma(x); }
  float bounded(float x) const { return detail::bounded_digamma(x); }
  TAEDA_HD float operator()(float x) const {
#if !defined(__CUDA_ARCH__)
    if (fits(x)) return bounded(x);  // the same bits, whatever stands beside it
#endif
    return static_cast<float>((*this)(double(x)));
  }
  TAEDA_HD double operator()(double x) const {
    if (x == 0) return std::copysign(double(INFINITY), -x);
    double reflected = 0;
    if (x < 0) {
      if (x == std::floor(x)) return double(NAN);
      const double fraction = x - std::trunc(x);
      reflected = -kPi / std::tan(kPi * fraction);
      x = 1 - x;
    }
    double below = 0;
    for (; x < 10; x += 1) below -= 1 / x;
    const double z = 1 / (x * x);
    const double series =
        z *
        (1.0 / 12 -
         z * (1.0 / 120 -
              z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
    return reflected + below + std::log(x) - 0.5 / x - (x < 1e17 ? series : 0);
  }

 private:
  static constexpr double kPi = 3.14159265358979323846;
};

/// The second derivative of log Gamma(x), in the same three steps (6.4.7, 6.4.6 and 6.4.12).
struct Trigamma : FloatPointwise<1> {
  static constexpr const char* name = "trigamma";
  TAEDA_HD float operator()(float x) const { return static_cast<float>((*this)(double(x))); }
  TAEDA_HD double operator()(double x) const {
    double sign = 1, sum = 0;
    if (x < 0.5) {
      const double s = std::sin(3.14159265358979323846 * x);
      sum = -9.8696044010893586188 / (s * s);
      sign = -1;
      x = 1 - x;
    }
    for (; x < 10; x += 1) sum += 1 / (x * x);
    const double z = 1 / (x * x);
    const double series =
        1.0 / 6 -
        z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66 - z * (691.0 / 2730)))));
    return sign * (sum + 1 / x + 0.5 * z + z / x * series);
  }
};

/// The next number after a towards b.
struct NextAfter {
  static constexpr const char* name = "nextafter";
  static constexpr int arity = 2;
  using Types = TypeList<float, double>;
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
#if defined(__CUDACC__)
    return std::nextafter(a, b);
#else  // by the bits of a, which are in the order of sizes, and without a branch
    using Bits = decltype(math::detail::to_bits(a));
    const Bits bits = math::detail::to_bits(a), one = (a < b) == (T(0) < a) ? 1 : -1;
    const T step = math::detail::from_bits(static_cast<Bits>(bits + one));
    const T smallest = math::detail::with_sign_of(math::detail::from_bits(Bits(1)), b);
    const T next = a == T(0) ? smallest : step, moved = a == b ? b : next;
    return a != a || b != b ? a + b : moved;
#endif
  }
};

/// The greatest common divisor; that of 0 and 0 is 0.
struct Gcd : Pointwise<2, IntTypes> {
  static constexpr const char* name = "gcd";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    U x = a < T(0) ? static_cast<U>(U(0) - static_cast<U>(a)) : static_cast<U>(a);
    U y = b < T(0) ? static_cast<U>(U(0) - static_cast<U>(b)) : static_cast<U>(b);
    while (y != 0) {
      const U rest = static_cast<U>(x % y);
      x = y;
      y = rest;
    }
    return static_cast<T>(x);
  }
};

/// a * 2^b in the dtype's bits. Shifts by less than 0 or by the number of bits give 0.
struct ShiftLeft : Pointwise<2, IntTypes> {
  static constexpr const char* name = "bitwise_left_shift";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    using U = std::make_unsigned_t<T>;
    if (b < T(0) || static_cast<uint64_t>(b) >= sizeof(T) * 8) return T(0);
    return static_cast<T>(static_cast<U>(static_cast<uint64_t>(static_cast<U>(a)) << b));
  }
};

/// a / 2^b, rounded down. Shifts by less than 0 or by the number of bits leave the sign.
struct ShiftRight : Pointwise<2, IntTypes> {
  static constexpr const char* name = "bitwise_right_shift";
  template <class T>
  TAEDA_HD T operator()(T a, T b) const {
    if (b < T(0) || static_cast<uint64_t>(b) >= sizeof(T) * 8) return a < T(0) ? T(-1) : T(0);
    return static_cast<T>(a >> b);
  }
};

using SpecialOps = OpList<Acosh, Asinh, Atanh, CopySign, Lgamma, Digamma, Trigamma, NextAfter, Gcd,
                          ShiftLeft, ShiftRight>;

}  // namespace taeda::inline v0_2
