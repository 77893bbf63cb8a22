// Packs of neighbours, several of which a thread waits for at once.
#pragma once

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

/// How many of the B places 0, step, 2 step, .. lie below `end`.
template <int B>
__device__ inline int places_below(int64_t end, int64_t step) {
  int count = 0;
#pragma unroll
  for (int b = 0; b < B; ++b) count += b * step < end;
  return count;
}

/// The packs of V neighbours that begin `at` bytes behind `base`, of which the first `count` are
/// there, as they are stored. `vector`: addresses are multiples of a pack, or of 16 bytes.
template <class T, int V, int B>
__device__ inline void load_stored(const char* base, const int64_t (&at)[B], int count, bool vector,
                                   Pack<T, V> (&packs)[B]) {
#pragma unroll
  for (int b = 0; b < B; ++b) {
    packs[b] = {};
    if (b < count && (V == 1 || vector))
      packs[b] = *reinterpret_cast<const Pack<T, V>*>(base + at[b]);
  }
  if (V == 1 || vector) return;
#pragma unroll
  for (int b = 0; b < B; ++b)
#pragma unroll
    for (int k = 0; b < count && k < V; ++k)
      packs[b].x[k] = reinterpret_cast<const T*>(base + at[b])[k];
}

/// Those of N arrays of one type, in A; all loads overlap.
template <int N, int V, int B, class A>
__device__ inline void load_packs(const char* const (&base)[N], ScalarType t,
                                  const int64_t (&at)[B], int count, bool vector,
                                  A (&out)[N][B][V]) {
  with_stored<A>(t, [&]<class T>(T) {
    Pack<T, V> packs[N][B];
#pragma unroll
    for (int i = 0; i < N; ++i) load_stored(base[i], at, count, vector, packs[i]);
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
      for (int b = 0; b < B; ++b)
#pragma unroll
        for (int k = 0; k < V; ++k) out[i][b][k] = static_cast<A>(widen(packs[i][b].x[k]));
  });
}

}  // namespace taeda::inline v0_2::gpu
