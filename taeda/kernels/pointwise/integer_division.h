// Quotients of 64-bit and 32-bit integers by division of doubles, for loops that vectorise: no
// instruction divides several integers.
//
// Below 2^51 both numbers are doubles, and rounding their quotient moves it by less than a quarter
// of the distance that a fraction with this divisor has from a whole number.
#pragma once

#include "taeda/kernels/math_detail.h"

namespace taeda::inline v0_2::detail {

TAEDA_ALWAYS_INLINE bool fits_division(int64_t a, int64_t b) {
  constexpr uint64_t kLimit = uint64_t{1} << 51;
  const uint64_t above =
      ((static_cast<uint64_t>(a) + kLimit) | (static_cast<uint64_t>(b) + kLimit)) >> 52;
  return (above == 0) & (b != 0);
}

/// Adding to the bits of 1.5 * 2^52 adds to the number, and back.
constexpr double kWholeNumbers = 6755399441055744.0;
TAEDA_ALWAYS_INLINE double whole_to_double(int64_t x) {
  return math::detail::from_bits(x + math::detail::to_bits(kWholeNumbers)) - kWholeNumbers;
}
TAEDA_ALWAYS_INLINE int64_t double_to_whole(double x) {
  return math::detail::to_bits(x + kWholeNumbers) - math::detail::to_bits(kWholeNumbers);
}

TAEDA_ALWAYS_INLINE int64_t bounded_div_trunc(int64_t a, int64_t b) {
  return double_to_whole(__builtin_trunc(whole_to_double(a) / whole_to_double(b)));
}
TAEDA_ALWAYS_INLINE int64_t bounded_div_floor(int64_t a, int64_t b) {
  return double_to_whole(__builtin_floor(whole_to_double(a) / whole_to_double(b)));
}
TAEDA_ALWAYS_INLINE int64_t bounded_fmod(int64_t a, int64_t b) {
  const double x = whole_to_double(a), y = whole_to_double(b);
  return double_to_whole(x - __builtin_trunc(x / y) * y);
}
TAEDA_ALWAYS_INLINE int64_t bounded_remainder(int64_t a, int64_t b) {
  const double x = whole_to_double(a), y = whole_to_double(b);
  return double_to_whole(x - __builtin_floor(x / y) * y);
}

/// Whether the quotient of 32-bit numbers is one, too: the smallest number by -1 is not.
TAEDA_ALWAYS_INLINE bool fits_division(int32_t a, int32_t b) {
  const int overflow = (a == INT32_MIN) & (b == -1);
  return (b != 0) & (overflow == 0);
}
TAEDA_ALWAYS_INLINE int32_t bounded_div_trunc(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<double>(a) / static_cast<double>(b));
}
TAEDA_ALWAYS_INLINE int32_t bounded_div_floor(int32_t a, int32_t b) {
  return static_cast<int32_t>(__builtin_floor(static_cast<double>(a) / static_cast<double>(b)));
}
TAEDA_ALWAYS_INLINE int32_t bounded_fmod(int32_t a, int32_t b) {
  const double x = a, y = b;
  return static_cast<int32_t>(x - __builtin_trunc(x / y) * y);
}
TAEDA_ALWAYS_INLINE int32_t bounded_remainder(int32_t a, int32_t b) {
  const double x = a, y = b;
  return static_cast<int32_t>(x - __builtin_floor(x / y) * y);
}

}  // namespace taeda::inline v0_2::detail
