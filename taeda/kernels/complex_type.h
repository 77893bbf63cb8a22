// Which element types are complex numbers.
#pragma once

#include "taeda/base/complex.h"

namespace taeda::inline v0_2 {

/// Whether T is a complex number.
template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<complex<T>> = true;

}  // namespace taeda::inline v0_2
