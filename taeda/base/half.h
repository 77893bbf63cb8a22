// 16-bit floating point storage types. Arithmetic happens in float: these types only convert.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "taeda/base/macros.h"

#if defined(__F16C__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace taeda::inline v0_2 {

namespace detail {

// Note [bit casts] std::bit_cast is constexpr and works on the host and, through the builtin, in
// device code.
TAEDA_HD TAEDA_ALWAYS_INLINE uint32_t float_bits(float x) {
  return __builtin_bit_cast(uint32_t, x);
}
TAEDA_HD TAEDA_ALWAYS_INLINE float bits_float(uint32_t x) { return __builtin_bit_cast(float, x); }

/// IEEE 754 binary32 to binary16, round to nearest even.
TAEDA_HD TAEDA_ALWAYS_INLINE uint16_t float_to_half(float x) {
#if defined(__F16C__) && !defined(__CUDACC__)
  return static_cast<uint16_t>(_cvtss_sh(x, 0));
#else
  const uint32_t bits = float_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {  // subnormal half: let float addition do the rounding
    const float shifted = bits_float(magnitude) + bits_float(0x3f000000u);
    return static_cast<uint16_t>(sign | (float_bits(shifted) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
#endif
}

/// IEEE 754 binary16 to binary32, exact.
TAEDA_HD TAEDA_ALWAYS_INLINE float half_to_float(uint16_t h) {
#if defined(__F16C__) && !defined(__CUDACC__)
  return _cvtsh_ss(h);
#else
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  const uint32_t exponent = (h >> 10) & 0x1fu;
  const uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1fu) return bits_float(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24
    return bits_float(sign | float_bits(value));
  }
  return bits_float(sign | ((exponent + 112u) << 23) | (mantissa << 13));
#endif
}

/// binary32 to bfloat16, round to nearest even; NaN stays NaN.
TAEDA_HD TAEDA_ALWAYS_INLINE uint16_t float_to_bfloat16(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

TAEDA_HD TAEDA_ALWAYS_INLINE float bfloat16_to_float(uint16_t b) {
  return bits_float(static_cast<uint32_t>(b) << 16);
}

}  // namespace detail

/// IEEE 754 binary16.
/// Two bytes; rounds to the nearest, to even between two; 0 by default.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  TAEDA_HD Half(float x) : bits(detail::float_to_half(x)) {}
  /// The number with these bits: `Half(0x3c00, Half::from_bits())` is 1.
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return {}; }
  TAEDA_HD constexpr Half(uint16_t pattern, from_bits_t) : bits(pattern) {}
  TAEDA_HD operator float() const { return detail::half_to_float(bits); }
};

/// The upper half of a binary32.
/// Two bytes; rounds to the nearest, to even between two; 0 by default.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  TAEDA_HD BFloat16(float x) : bits(detail::float_to_bfloat16(x)) {}
  struct from_bits_t {};
  /// Marks a constructor's number as the bits of the result.
  static constexpr from_bits_t from_bits() { return {}; }
  TAEDA_HD constexpr BFloat16(uint16_t pattern, from_bits_t) : bits(pattern) {}
  TAEDA_HD operator float() const { return detail::bfloat16_to_float(bits); }
};

}  // namespace taeda
