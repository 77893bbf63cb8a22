// Rows that the registers of a group of threads hold: what several loops need is read once, and
// nothing waits for shared memory.
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "taeda/cuda/kernels/rows.cuh"

namespace taeda::inline v0_2::gpu {

/// Rows of which a thread holds packs of four: those that begin at element 4 (lane + b group).
struct RegisterRows : RowShape {
  bool vector;  // packs of all operands are aligned

  RegisterRows(int64_t row_count, int64_t length, std::initializer_list<const void*> operands)
      : RowShape(row_count, length),
        vector(length % 4 == 0 && std::all_of(operands.begin(), operands.end(), is_aligned)) {}

  /// Calls f.template operator()<P>() with the number of packs that a thread needs, one of 1, 2, 4
  /// .. kMost; false if it needs more.
  template <int kMost, int P = 1, class F>
  bool with_packs(F&& f) const {
    if (n <= int64_t{4} * P * group) return f.template operator()<P>(), true;
    if constexpr (P < kMost) return with_packs<kMost, 2 * P>(f);
    return false;
  }

  __device__ int first_of(int b) const { return 4 * (lane() + b * group); }
  /// How many of its n elements this thread's warp holds.
  template <int P>
  __device__ int held_by_warp() const {
    int all = 0;
#pragma unroll
    for (int b = 0; b < P; ++b) {
      const int left = static_cast<int>(n) - 4 * (lane() / 32 * 32 + b * group);
      all += left > 128 ? 128 : left > 0 ? left : 0;
    }
    return all;
  }

  /// This thread's packs of a row that begins at element `base`; zeros behind its end, or where it
  /// is not `there`. All loads overlap. kStreams: the caches need not keep them.
  template <bool kStreams, class A, int P>
  __device__ void read(const char* data, ScalarType dtype, int64_t base, bool there,
                       A (&x)[P][4]) const {
    const int end = there ? static_cast<int>(n) : 0;
    with_stored<A>(dtype, [&]<class T>(T) {
      const T* from = reinterpret_cast<const T*>(data) + base;
      Pack<T, 4> packs[P];
#pragma unroll
      for (int b = 0; b < P; ++b) {
        packs[b] = {};
        const int i = first_of(b);
        if (vector) {
          if (i < end) packs[b] = read_pack<kStreams>(from + i);
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k)
            if (i + k < end) packs[b].x[k] = from[i + k];
        }
      }
#pragma unroll
      for (int b = 0; b < P; ++b)
#pragma unroll
        for (int k = 0; k < 4; ++k) x[b][k] = static_cast<A>(widen(packs[b].x[k]));
    });
  }
  template <class A, int P>
  __device__ void write(char* data, ScalarType dtype, int64_t base, bool there,
                        const A (&x)[P][4]) const {
    const int end = there ? static_cast<int>(n) : 0;
    with_stored<A>(dtype, [&]<class T>(T) {
      T* to = reinterpret_cast<T*>(data) + base;
#pragma unroll
      for (int b = 0; b < P; ++b) {
        const int i = first_of(b);
        Pack<T, 4> pack;
#pragma unroll
        for (int k = 0; k < 4; ++k) pack.x[k] = narrow<T>(x[b][k]);
        if (vector) {
          if (i < end) *reinterpret_cast<Pack<T, 4>*>(to + i) = pack;
        } else {
#pragma unroll
          for (int k = 0; k < 4; ++k)
            if (i + k < end) to[i + k] = pack.x[k];
        }
      }
    });
  }

 private:
  template <bool kStreams, class T>
  __device__ static Pack<T, 4> read_pack(const T* p) {
    if constexpr (!kStreams) return *reinterpret_cast<const Pack<T, 4>*>(p);
    using Word = std::conditional_t<sizeof(T) == 2, ::uint2, ::uint4>;
    return std::bit_cast<Pack<T, 4>>(__ldcs(reinterpret_cast<const Word*>(p)));
  }
};

/// What lane 0 of each warp of the block gives, for all threads. `round` counts a kernel's calls,
/// so that one barrier is enough for each.
template <class V>
__device__ const V* exchange_warps(const V& mine, int round) {
  constexpr int kWarps = kThreads / 32;
  __shared__ V values[2 * kWarps];
  V* now = values + round % 2 * kWarps;
  if (threadIdx.x % 32 == 0) now[threadIdx.x / 32] = mine;
  __syncthreads();
  return now;
}

/// Sum over a warp; all lanes get it.
template <class A>
__device__ A warp_sum(A value) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
  return value;
}

}  // namespace taeda::inline v0_2::gpu
