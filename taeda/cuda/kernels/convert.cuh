// Conversions between element types, where both are told at run time.
#pragma once

#include "taeda/cuda/kernels/common.cuh"
#include "taeda/kernels/complex_type.h"

namespace taeda::inline v0_2::gpu {

/// Conversion between the types that arithmetic is done in.
template <class To, class From>
__device__ To convert(From v) {
  if constexpr (std::is_same_v<To, From>)
    return v;
  else if constexpr (is_complex_v<From> && is_complex_v<To>)
    return To(v);
  else if constexpr (is_complex_v<From> && std::is_same_v<To, bool>)
    return v.re != 0 || v.im != 0;
  else if constexpr (is_complex_v<From>)
    return convert<To>(v.re);
  else if constexpr (is_complex_v<To>)
    return To(static_cast<typename To::value_type>(v));
  else if constexpr (std::is_same_v<To, bool>)
    return v != 0;
  else if constexpr (std::is_same_v<To, uint8_t> && std::is_floating_point_v<From>)
    return static_cast<uint8_t>(static_cast<int64_t>(v));  // wraps, as on the CPU
  else
    return static_cast<To>(v);
}

/// Calls f(T()) with the type of the list that `t` names.
template <class... T, class F>
__device__ void with_dtype(TypeList<T...>, ScalarType t, F&& f) {
  (void)((t == dtype_of<T>() && (f(T()), true)) || ...);
}

/// The T at `p`, as arithmetic in A wants it.
template <class A, class T>
__device__ A load_converted(const char* p) {
  return convert<A>(widen(*reinterpret_cast<const T*>(p)));
}
template <class T, class A>
__device__ void store_converted(char* p, A value) {
  *reinterpret_cast<T*>(p) = narrow<T>(convert<opmath_t<T>>(value));
}

/// `value` as a T of dtype `t` would hold it, where A is what T is computed in.
template <class A>
__device__ A rounded_to(ScalarType t, A value) {
  if constexpr (std::is_same_v<A, float>) {
    if (t == kHalf) return widen(narrow<Half>(value));
    if (t == kBFloat16) return widen(narrow<BFloat16>(value));
  }
  return value;
}

}  // namespace taeda::gpu
