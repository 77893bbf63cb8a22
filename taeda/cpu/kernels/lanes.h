// Vectors of 64 bytes, for loops that the compiler may not vectorise by itself because that would
// change the order of floating-point operations. Their width is the same for every instruction set,
// and so are the results.
#pragma once

#include <cstring>
#include <utility>

#include "taeda/base/dtype.h"

#if defined(__AVX512F__) || defined(__F16C__)
#include <immintrin.h>
#endif

// Vectors are passed between inlined functions only, so how they would be passed does not matter.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

template <class A>
constexpr int64_t kLanes = 64 / sizeof(A);

/// Complex numbers and bool are handled one by one.
template <class A>
constexpr bool has_lanes = std::is_arithmetic_v<A> && !std::is_same_v<A, bool>;

// Note [Pieces]
// GCC keeps a vector that is wider than a register in memory and takes comparisons of it apart into
// single elements. So long loops work on pieces, each a register: lane k of a vector is lane
// k % kPieceLanes of piece k / kPieceLanes. They are indexed by constants only.
#if defined(__AVX512F__)
constexpr int64_t kPieceBytes = 64;
#elif defined(__AVX__)
constexpr int64_t kPieceBytes = 32;
#else
constexpr int64_t kPieceBytes = 16;
#endif
constexpr int64_t kPieces = 64 / kPieceBytes;

template <class A>
struct PieceOf {
  typedef A type __attribute__((vector_size(kPieceBytes)));
  static constexpr int64_t count = kPieceBytes / sizeof(A);
};
template <class A>
using Piece = typename PieceOf<A>::type;
template <class A>
constexpr int64_t kPieceLanes = PieceOf<A>::count;

#if !defined(__AVX512F__) && !defined(__F16C__)
/// Not inlined: without hardware for it, the conversion is long.
[[gnu::noinline]] inline void widen_piece(const Half* p, float* out) {
  for (int64_t i = 0; i < kPieceLanes<float>; ++i) out[i] = static_cast<float>(p[i]);
}
#endif

/// kPieceLanes<A> elements of type T, converted to A.
template <class A, class T>
TAEDA_ALWAYS_INLINE Piece<A> load_piece(const T* p) {
  Piece<A> v;
  if constexpr (std::is_same_v<A, T>) {
    std::memcpy(&v, p, sizeof v);
  } else if constexpr (std::is_same_v<A, double> && sizeof(T) == 2 && !std::is_integral_v<T>) {
    for (int64_t k = 0; k < kPieceLanes<A>; ++k) v[k] = static_cast<float>(p[k]);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    typedef uint16_t Narrow __attribute__((vector_size(kPieceBytes / 2)));
    Narrow bits;
    std::memcpy(&bits, p, sizeof bits);
    const Piece<uint32_t> wide = __builtin_convertvector(bits, Piece<uint32_t>) << 16;
    std::memcpy(&v, &wide, sizeof v);
  } else if constexpr (std::is_same_v<T, Half>) {
#if defined(__AVX512F__)
    __m256i bits;
    std::memcpy(&bits, p, sizeof bits);
    v = reinterpret_cast<Piece<float>>(_mm512_maskz_cvtph_ps(0xffff, bits));
#elif defined(__F16C__)
    __m128i bits;
    std::memcpy(&bits, p, sizeof bits);
    v = reinterpret_cast<Piece<float>>(_mm256_cvtph_ps(bits));
#else
    widen_piece(p, reinterpret_cast<float*>(&v));
#endif
  } else {
    typedef T Narrow __attribute__((vector_size(sizeof(T) * kPieceLanes<A>)));
    Narrow x;
    std::memcpy(&x, p, sizeof x);
    v = __builtin_convertvector(x, Piece<A>);
  }
  return v;
}

namespace detail {

/// Lanes that are `Step` apart change places.
template <int64_t Step, class P, size_t... I>
TAEDA_ALWAYS_INLINE P exchange_lanes(P v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I ^ Step)...);
}

/// Lane i with lane i + Step, then with half of that; the result is in lane 0.
template <class A, int64_t Step, class F>
TAEDA_ALWAYS_INLINE A fold_piece(Piece<A> v, F&& f) {
  if constexpr (Step == 0) {
    return v[0];
  } else {
    constexpr std::make_index_sequence<static_cast<size_t>(kPieceLanes<A>)> lanes;
    return fold_piece<A, Step / 2>(f(v, exchange_lanes<Step>(v, lanes)), f);
  }
}

}  // namespace detail

/// Combines the lanes of a vector pairwise with `f(a, b)`, of pieces: lane i with lane i + n / 2 of
/// n, then what is left likewise.
template <class A, class F>
TAEDA_ALWAYS_INLINE A fold_lanes(const Piece<A> (&pieces)[kPieces], F&& f) {
  Piece<A> v = pieces[0];
  if constexpr (kPieces == 2)
    v = f(v, pieces[1]);
  else if constexpr (kPieces == 4)
    v = f(f(v, pieces[2]), f(pieces[1], pieces[3]));
  return detail::fold_piece<A, kPieceLanes<A> / 2>(v, f);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
