// Vectors of 64 bytes, for loops that the compiler may not vectorise by itself because that would
// change the order of floating-point operations. Their width is the same for every instruction set,
// and so are the results.
#pragma once

#include <cstring>

#include "taeda/base/dtype.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

// Vectors are passed between inlined functions only, so how they would be passed does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

template <class A>
struct LanesOf {
  typedef A type __attribute__((vector_size(64)));
  static constexpr int64_t count = 64 / sizeof(A);
};
template <class A>
using Lanes = typename LanesOf<A>::type;
template <class A>
constexpr int64_t kLanes = LanesOf<A>::count;

/// Complex numbers and bool are handled one by one.
template <class A>
constexpr bool has_lanes = std::is_arithmetic_v<A> && !std::is_same_v<A, bool>;

template <class A>
TAEDA_ALWAYS_INLINE Lanes<A> broadcast(A x) {
  return x - Lanes<A>{};
}

#if !defined(__AVX512F__)
/// Not inlined: without hardware for it, the conversion is long.
[[gnu::noinline]] inline void widen16(const Half* p, float* out) {
  for (int i = 0; i < 16; ++i) out[i] = static_cast<float>(p[i]);
}
#endif

/// kLanes<A> elements of type T, converted to A.
template <class A, class T>
TAEDA_ALWAYS_INLINE Lanes<A> load_lanes(const T* p) {
  if constexpr (std::is_same_v<A, T>) {
    Lanes<A> v;
    std::memcpy(&v, p, sizeof v);
    return v;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    typedef uint16_t Narrow __attribute__((vector_size(32)));
    typedef uint32_t Wide __attribute__((vector_size(64)));
    Narrow bits;
    std::memcpy(&bits, p, sizeof bits);
    const Wide wide = __builtin_convertvector(bits, Wide) << 16;
    Lanes<float> v;
    std::memcpy(&v, &wide, sizeof v);
    return v;
  } else if constexpr (std::is_same_v<T, Half>) {
#if defined(__AVX512F__)
    __m256i bits;
    std::memcpy(&bits, p, sizeof bits);
    return reinterpret_cast<Lanes<float>>(_mm512_maskz_cvtph_ps(0xffff, bits));
#else
    float f[16];
    widen16(p, f);
    return load_lanes<float>(f);
#endif
  } else {
    typedef T Narrow __attribute__((vector_size(sizeof(T) * kLanes<A>)));
    Narrow x;
    std::memcpy(&x, p, sizeof x);
    return __builtin_convertvector(x, Lanes<A>);
  }
}

/// Combines the lanes pairwise with `f(a, b)`.
template <class A, class F>
TAEDA_ALWAYS_INLINE A fold_lanes(const Lanes<A>& v, F&& f) {
  A x[kLanes<A>];
  std::memcpy(x, &v, sizeof x);
  for (int64_t step = kLanes<A> / 2; step > 0; step /= 2)
    for (int64_t i = 0; i < step; ++i) x[i] = f(x[i], x[i + step]);
  return x[0];
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
