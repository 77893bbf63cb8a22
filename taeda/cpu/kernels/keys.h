// Unsigned numbers of the same order as the values of a dtype.
#pragma once

#include <cstdint>
#include <type_traits>

#include "taeda/base/dtype.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <size_t bytes>
using key_of_size = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

/// The bits of infinity.
template <class T>
constexpr uint64_t kInfinityBits = std::is_same_v<T, double>  ? 0x7ff0000000000000
                                   : std::is_same_v<T, float> ? 0x7f800000
                                   : std::is_same_v<T, Half>  ? 0x7c00
                                                              : 0x7f80;

/// An unsigned number that orders like x; zeros of both signs are equal, NaN is the largest.
/// Without branches, so that loops over it vectorise.
template <class T>
TAEDA_ALWAYS_INLINE key_of_size<sizeof(T)> to_key(T x) {
  using U = key_of_size<sizeof(T)>;
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    return static_cast<U>(x);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<U>(static_cast<U>(x) ^ sign);
  } else {
    const U bits = __builtin_bit_cast(U, x), size = bits & static_cast<U>(~sign);
    const U flip = bits > sign ? static_cast<U>(~U{0}) : sign;  // of -0 the sign alone
    const U key = size == 0 ? sign : static_cast<U>(bits ^ flip);
    return size > static_cast<U>(kInfinityBits<T>) ? static_cast<U>(~U{0}) : key;
  }
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
