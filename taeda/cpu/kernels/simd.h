// Vectors as wide as the registers of the instruction set that this file is compiled for, written
// with the compiler's vector extension: arithmetic operators work on them directly.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "taeda/base/macros.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kVectorRegisters = 32;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
constexpr int kVectorRegisters = 16;
#else
constexpr int kVectorBytes = 16;
constexpr int kVectorRegisters = 16;
#endif

/// Elements of T in a register.
template <class T>
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
/// A register of T.
template <class T>
using Vec = typename VectorOf<T>::type;

/// Unaligned load and store.
template <class T>
TAEDA_ALWAYS_INLINE Vec<T> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
TAEDA_ALWAYS_INLINE void store(T* p, Vec<T> v) {
  std::memcpy(p, &v, sizeof v);
}
template <class T>
TAEDA_ALWAYS_INLINE Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}

/// The 64-bit products of the lower halves of the lanes.
TAEDA_ALWAYS_INLINE Vec<uint64_t> multiply_lower_halves(Vec<uint64_t> a, Vec<uint64_t> b) {
#if defined(__AVX512F__)
  return (Vec<uint64_t>)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Vec<uint64_t>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && !defined(__AVX__)
  return (Vec<uint64_t>)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

/// The first `n` lanes from memory, zeros behind them; no byte past them is read.
template <class T>
TAEDA_ALWAYS_INLINE Vec<T> load_first(const T* p, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vec<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << n) - 1), p);
  else if constexpr (sizeof(T) == 8)
    return (Vec<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>((1u << n) - 1), p);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane);
    return (Vec<T>)_mm256_maskload_epi32(reinterpret_cast<const int*>(p), mask);
  }
#endif
  T lanes[kLanes<T>] = {};
  for (int64_t i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
template <class T>
TAEDA_ALWAYS_INLINE void store_first(T* p, Vec<T> v, int64_t n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_mask_storeu_epi32(p, static_cast<__mmask16>((1u << n) - 1), (__m512i)v);
  else if constexpr (sizeof(T) == 8)
    return _mm512_mask_storeu_epi64(p, static_cast<__mmask8>((1u << n) - 1), (__m512i)v);
#endif
  T lanes[kLanes<T>];
  store(lanes, v);
  for (int64_t i = 0; i < n; ++i) p[i] = lanes[i];
}

namespace detail {
template <class V, int... I>
TAEDA_ALWAYS_INLINE V interleave_low(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (I % 2 * static_cast<int>(sizeof...(I)) + I / 2)...);
}
template <class V, int... I>
TAEDA_ALWAYS_INLINE V interleave_high(V a, V b, std::integer_sequence<int, I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(a, b, (I % 2 * n + (I + n) / 2)...);
}
/// Lanes that are `Width` apart change places.
template <int Width, class V, int... I>
TAEDA_ALWAYS_INLINE V exchange(V v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I ^ Width)...);
}
}  // namespace detail

/// Transposes a square of kLanes<T> registers in place.
///
/// Each round interleaves row i with row i + L/2; after log2(L) rounds, every bit of the row number
/// has changed places with a bit of the lane number.
template <class T>
TAEDA_ALWAYS_INLINE void transpose_square(Vec<T> (&row)[kLanes<T>]) {
  constexpr int n = kLanes<T>;
  constexpr std::make_integer_sequence<int, n> lanes;
  for (int round = 1; round < n; round *= 2) {
    Vec<T> next[n];
    for (int i = 0; i < n / 2; ++i) {
      next[2 * i] = detail::interleave_low(row[i], row[i + n / 2], lanes);
      next[2 * i + 1] = detail::interleave_high(row[i], row[i + n / 2], lanes);
    }
    for (int i = 0; i < n; ++i) row[i] = next[i];
  }
}

/// The sum of all lanes, in a fixed order: halves are added until one lane is left.
template <class T, int Width = kLanes<T> / 2>
TAEDA_ALWAYS_INLINE T sum_lanes(Vec<T> v) {
  if constexpr (Width == 0) {
    return v[0];
  } else {
    return sum_lanes<T, Width / 2>(
        v + detail::exchange<Width>(v, std::make_integer_sequence<int, kLanes<T>>()));
  }
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
