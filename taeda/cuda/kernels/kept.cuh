// What a kernel needs of a row or a column in more than one loop, and what makes it one loop.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "taeda/cuda/kernels/rows.cuh"

namespace taeda::inline v0_2::gpu {

/// The largest of some numbers, and the sum of exp(x - largest) over them: found in one pass, in
/// which a new largest one scales what was summed. Infinite and no numbers give a sum of NaN.
template <class A>
struct ExpSum {
  A top, sum;

  static __device__ ExpSum none() { return {minus_infinity<A>(), A(0)}; }
  __device__ void add(A x) {
    if (x > top || x != x) {
      sum = sum * ::exp(top - x) + A(1);
      top = x;
    } else if (x != minus_infinity<A>()) {
      sum += ::exp(x - top);
    }
  }
  /// The first `count` of four: their largest one decides whether the sum is scaled.
  __device__ void add(const A (&x)[4], int count) {
    A most = x[0];
#pragma unroll
    for (int k = 1; k < 4; ++k)
      if (k < count) most = larger(most, x[k]);
    if (most > top || most != most) {
      sum *= ::exp(top - most);
      top = most;
    }
    if (top == minus_infinity<A>()) return;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (k < count) sum += ::exp(x[k] - top);
  }
  /// All numbers have been added.
  __device__ A total() const { return sum + (top - top); }
};
/// Those of all threads of a group. All threads of the block take part.
template <class A>
__device__ ExpSum<A> group_exp_sum(int group, const ExpSum<A>& mine) {
  const A top = group_max(group, mine.top);
  return {top, group_sum(group, mine.sum == A(0) ? A(0) : mine.sum * ::exp(mine.top - top))};
}

// Note [Elements that are read once]
// What several loops of a kernel need, its first loop keeps in shared memory, where each thread
// sees its own elements alone: so nothing waits for it, and neighbours keep theirs in neighbouring
// banks. Where a row is longer than that, the later loops read it again.
constexpr size_t kKeptBytes = 44 * 1024;  // any device has 48 KiB for a block

/// What a block asks for, so that each of its threads keeps `bytes` for each of `count` elements.
inline size_t kept_bytes(int64_t count, size_t bytes) {
  const size_t all = static_cast<size_t>(count) * bytes * kThreads;
  return all <= kKeptBytes ? all : 0;
}

/// The block's memory of a launch that asked for it.
template <class A>
__device__ A* kept_memory() {
  extern __shared__ ::uint4 kept_words[];
  return reinterpret_cast<A*>(kept_words);
}

/// Elements first, first + step, .. below `end`, counted from `base`, of N arrays, which a thread
/// goes through more than once.
template <class A, int N>
struct KeptElements {
  Reader<A> in[N];
  int64_t base, first, end, step;
  A* kept;  // null: there is no room

  /// Calls f(i, the elements) for each i; to be called before `again`.
  template <class F>
  __device__ void read(F&& f) const {
    int at = threadIdx.x;
    load([&](int64_t i, const A(&x)[N]) {
      for (int k = 0; kept && k < N; ++k, at += kThreads) kept[at] = x[k];
      f(i, x);
    });
  }
  template <class F>
  __device__ void again(F&& f) const {
    if (!kept) return load(f);
    int at = threadIdx.x;
    for (int64_t i = first; i < end; i += step) {
      A x[N];
      for (int k = 0; k < N; ++k, at += kThreads) x[k] = kept[at];
      f(i, x);
    }
  }

  /// Four at a time, so that their loads overlap.
  template <class F>
  __device__ void load(F&& f) const {
    int64_t i = first;
    for (; i + 3 * step < end; i += 4 * step) {
      const int64_t at[4] = {base + i, base + i + step, base + i + 2 * step, base + i + 3 * step};
      A loaded[N][4];
#pragma unroll
      for (int k = 0; k < N; ++k) in[k].gather(at, loaded[k]);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        A x[N];
#pragma unroll
        for (int k = 0; k < N; ++k) x[k] = loaded[k][q];
        f(i + q * step, x);
      }
    }
    for (; i < end; i += step) {
      A x[N];
      for (int k = 0; k < N; ++k) x[k] = in[k][base + i];
      f(i, x);
    }
  }
};

template <class A, int N>
__device__ KeptElements<A, N> kept_elements(const Reader<A> (&in)[N], int64_t base, int64_t first,
                                            int64_t end, int64_t step, size_t kept) {
  KeptElements<A, N> out{{}, base, first, end, step, kept ? kept_memory<A>() : nullptr};
  for (int k = 0; k < N; ++k) out.in[k] = in[k];
  return out;
}

/// A row's elements in N arrays, which a thread goes through more than once by packs of four: each
/// `group`th pack is its.
template <class A, int N>
struct KeptPacks {
  Reader<A> in[N];
  int64_t base, n;
  int lane, group;
  bool vector;
  A* kept;  // null: there is no room

  /// Calls f(i, the elements from i on, how many there are) for each pack; before `again`.
  template <class F>
  __device__ void read(F&& f) const {
    int at = threadIdx.x;
    load([&](int64_t i, const A(&x)[N][4], int count) {
      if (kept)
        for (int k = 0; k < N; ++k, at += kThreads) {
          Pack<A, 4>& to = reinterpret_cast<Pack<A, 4>*>(kept)[at];
          for (int q = 0; q < 4; ++q) to.x[q] = x[k][q];
        }
      f(i, x, count);
    });
  }
  template <class F>
  __device__ void again(F&& f) const {
    if (!kept) return load(f);
    int at = threadIdx.x;
    for (int64_t i = 4 * lane; i < n; i += 4 * group) {
      A x[N][4];
      for (int k = 0; k < N; ++k, at += kThreads) {
        const Pack<A, 4> from = reinterpret_cast<const Pack<A, 4>*>(kept)[at];
        for (int q = 0; q < 4; ++q) x[k][q] = from.x[q];
      }
      f(i, x, left(i));
    }
  }
  __device__ int left(int64_t i) const { return i + 4 <= n ? 4 : static_cast<int>(n - i); }

  /// Several packs at a time, so that their loads overlap.
  template <class F>
  __device__ void load(F&& f) const {
    constexpr int kBatch = 4 / N;
    const int64_t whole = n / 4;
    for (int64_t p = lane; p < whole; p += kBatch * group) {
      int64_t at[kBatch];
      A loaded[N][kBatch][4];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) at[b] = base + 4 * (p + b * group);
      const int count = places_below<kBatch>(whole - p, group);
      read_packs(in, at, count, vector, loaded);
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (b >= count) break;
        A x[N][4];
#pragma unroll
        for (int k = 0; k < N; ++k)
#pragma unroll
          for (int q = 0; q < 4; ++q) x[k][q] = loaded[k][b][q];
        f(4 * (p + b * group), x, 4);
      }
    }
    if (whole * 4 == n || whole % group != lane) return;
    A x[N][4];
    for (int k = 0; k < N; ++k) in[k].four(base + 4 * whole, base + n, false, x[k]);
    f(4 * whole, x, left(4 * whole));
  }
};

/// Rows whose elements take `item` bytes to keep, 0 where they need not be kept.
struct KeptRows : RowShape {
  size_t kept;  // bytes of a block's memory, 0 where a row is too long for it
  bool vector;  // packs of four of all operands are aligned

  KeptRows(int64_t row_count, int64_t length, size_t item,
           std::initializer_list<const void*> operands)
      : RowShape(row_count, length),
        kept(bytes(item)),
        vector(length % 4 == 0 && std::all_of(operands.begin(), operands.end(), is_aligned)) {
    if (kept > 0 || item == 0 || group == kThreads) return;
    group = kThreads;
    kept = bytes(item);
  }
  /// This thread's packs of a row; none of a row that is not `valid`.
  template <class A, int N>
  __device__ KeptPacks<A, N> packs(int64_t row, const Reader<A> (&in)[N]) const {
    KeptPacks<A, N> out{{}, row * n, row < rows ? n : 0, lane(), group, vector, nullptr};
    if (kept) out.kept = kept_memory<A>();
    for (int k = 0; k < N; ++k) out.in[k] = in[k];
    return out;
  }

 private:
  size_t bytes(size_t item) const {
    return kept_bytes(((n + 3) / 4 + group - 1) / group * 4, item);
  }
};

}  // namespace taeda::inline v0_2::gpu
