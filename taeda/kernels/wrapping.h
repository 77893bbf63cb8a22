// Sums and products that integers of tensors wrap around in, as PyTorch's do. Signed numbers of C++
// may not, so these are computed as unsigned ones, which is the same instruction.
#pragma once

#include <type_traits>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::wrapping {

/// Whether arithmetic on T could overflow; smaller types are computed in int.
template <class T>
inline constexpr bool kCanOverflow = std::is_integral_v<T>&& std::is_signed_v<T> &&
                                     sizeof(T) >= sizeof(int);

template <class T>
TAEDA_HD T add(T a, T b) {
  if constexpr (kCanOverflow<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                          static_cast<std::make_unsigned_t<T>>(b));
  else
    return static_cast<T>(a + b);
}

template <class T>
TAEDA_HD T sub(T a, T b) {
  if constexpr (kCanOverflow<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) -
                          static_cast<std::make_unsigned_t<T>>(b));
  else
    return static_cast<T>(a - b);
}

template <class T>
TAEDA_HD T mul(T a, T b) {
  if constexpr (kCanOverflow<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) *
                          static_cast<std::make_unsigned_t<T>>(b));
  else
    return static_cast<T>(a * b);
}

}  // namespace taeda::inline v0_2::wrapping
