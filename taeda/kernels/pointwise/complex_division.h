// Quotients of complex numbers that are right wherever the quotient is a number of the type, with
// the infinities and zeros of C99, Annex G.5.1.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "taeda/base/complex.h"
#include "taeda/base/macros.h"

namespace taeda::inline v0_2 {

namespace detail {

template <class T>
TAEDA_HD TAEDA_ALWAYS_INLINE T larger_size(complex<T> z) {
  const T a = z.re < T(0) ? -z.re : z.re, b = z.im < T(0) ? -z.im : z.im;
  return a > b ? a : b;
}

/// A power of 2 by which numbers of size m come between 1/4 and 1/2, so that products with them can
/// be added; within the range for subnormal and infinite ones, too.
template <class T>
TAEDA_HD TAEDA_ALWAYS_INLINE T scale_below_one(T m) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  constexpr Bits one = Bits(1) << digits, most = Bits(2 * std::numeric_limits<T>::max_exponent - 2);
  Bits exponent = __builtin_bit_cast(Bits, m) & ((most + 1) << digits);
  exponent = exponent < one ? one : exponent;
  exponent = exponent > ((most - 3) << digits) ? (most - 3) << digits : exponent;
  return __builtin_bit_cast(T, ((most - 2) << digits) - exponent);
}

/// a / b of finite numbers: squares of what is scaled to about 1/2 neither overflow nor vanish.
template <class T>
TAEDA_HD TAEDA_ALWAYS_INLINE complex<T> finite_quotient(complex<T> a, complex<T> b) {
  const T scale = scale_below_one(larger_size(b));
  return complex<T>(a.re * scale, a.im * scale) / complex<T>(b.re * scale, b.im * scale);
}

/// What C99 says of a quotient whose parts both came out as NaN.
template <class T>
TAEDA_NOINLINE TAEDA_HD complex<T> unusual_quotient(complex<T> a, complex<T> b,
                                                    complex<T> otherwise) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const auto is_infinite = [](T x) { return x == inf || x == -inf; };
  const auto infinite = [&](complex<T> z) { return is_infinite(z.re) || is_infinite(z.im); };
  const auto finite = [](complex<T> z) { return (z.re - z.re == T(0)) & (z.im - z.im == T(0)); };
  // 1 for an infinite part and 0 for a finite one, with its sign.
  const auto direction = [&](complex<T> z) {
    return complex<T>(std::copysign(T(is_infinite(z.re) ? 1 : 0), z.re),
                      std::copysign(T(is_infinite(z.im) ? 1 : 0), z.im));
  };
  if (b.re == T(0) && b.im == T(0) && (a.re == a.re || a.im == a.im)) {
    const T factor = std::copysign(inf, b.re);
    return {factor * a.re, factor * a.im};
  }
  complex<T> c = a, d = b;
  T factor = 0;
  if (infinite(a) && finite(b)) {
    c = direction(a), factor = inf;
    d.re *= scale_below_one(larger_size(b)), d.im *= scale_below_one(larger_size(b));
  } else if (infinite(b) && finite(a)) {
    d = direction(b);
    c.re *= scale_below_one(larger_size(a)), c.im *= scale_below_one(larger_size(a));
  } else {
    return otherwise;
  }
  return {factor * (c.re * d.re + c.im * d.im), factor * (c.im * d.re - c.re * d.im)};
}

/// a / b.
template <class T>
TAEDA_HD TAEDA_ALWAYS_INLINE T quotient(T a, T b) {
  return a / b;
}
template <class T>
TAEDA_HD TAEDA_ALWAYS_INLINE complex<T> quotient(complex<T> a, complex<T> b) {
  const complex<T> result = finite_quotient(a, b);
  return (result.re != result.re) & (result.im != result.im) ? unusual_quotient(a, b, result)
                                                             : result;
}

/// Whether the operator of two complex numbers, which vectorises, gives their quotient: no product
/// of theirs overflows or loses digits. Sizes are compared by their bits, which have the same order
/// and put NaN behind infinity: one comparison says whether a size lies between two.
template <class T>
TAEDA_ALWAYS_INLINE bool fits_quotient(complex<T> a, complex<T> b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr auto bits = [](T x) { return __builtin_bit_cast(Bits, x); };
  constexpr T far = sizeof(T) == 4 ? T(1e9) : T(1e70);
  constexpr Bits least_b = bits(T(1) / far) + 1, least_a = bits(T(1) / (far * far)) + 1;
  const auto larger = [&](complex<T> z) {
    const Bits re = bits(z.re) << 1 >> 1, im = bits(z.im) << 1 >> 1;
    return re > im ? re : im;
  };
  const Bits of_a = larger(a), of_b = larger(b);
  return ((of_a == 0) | (of_a - least_a < bits(far * far) - least_a)) &
         (of_b - least_b < bits(far) - least_b);
}

}  // namespace detail

}  // namespace taeda::inline v0_2
