// Threads that share a row, as softmax, losses and norms do: a warp for a short row, a block for a
// long one.
#pragma once

#include <limits>

#include "taeda/cuda/kernels/packs.cuh"

namespace taeda::inline v0_2::gpu {

/// `group` threads (32 or kThreads) for each row.
struct RowShape {
  int64_t rows, n;
  int group;

  RowShape(int64_t row_count, int64_t length)
      : rows(row_count), n(length), group(length <= 1024 ? 32 : kThreads) {}
  unsigned blocks() const { return blocks_for(rows * group); }

  /// The first row of this thread's group, and the distance to its next one. All threads of a block
  /// go round equally often: a row behind the last one is not `valid`.
  __device__ int64_t first() const {
    return static_cast<int64_t>(blockIdx.x) * (kThreads / group) + threadIdx.x / group;
  }
  __device__ int64_t step() const { return static_cast<int64_t>(gridDim.x) * (kThreads / group); }
  __device__ int64_t rounds_end() const { return (rows + step() - 1) / step() * step(); }
  __device__ int lane() const { return threadIdx.x % group; }
};

/// Combines the values of a group's threads; all get the result, in an order that depends on the
/// group's size alone. All threads of the block take part.
template <class A, class Combine>
__device__ A combine_group(int group, A value, Combine combine) {
  for (int d = 16; d > 0; d /= 2) {
    const A other = __shfl_xor_sync(0xffffffffu, value, d);
    value = threadIdx.x & d ? combine(other, value) : combine(value, other);
  }
  if (group == 32) return value;
  __shared__ A warps[kThreads / 32];
  __syncthreads();  // the previous call's values have been read
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  A all = warps[0];
  for (int w = 1; w < kThreads / 32; ++w) all = combine(all, warps[w]);
  return all;
}

template <class A>
__device__ A group_sum(int group, A value) {
  return combine_group(group, value, [](A a, A b) { return a + b; });
}

/// The larger; NaN wins.
template <class A>
__device__ A larger(A a, A b) {
  return b > a || b != b ? b : a;
}
template <class A>
__device__ A group_max(int group, A value) {
  return combine_group(group, value, [](A a, A b) { return larger(a, b); });
}

template <class A>
__device__ constexpr A minus_infinity() {
  return -std::numeric_limits<A>::infinity();
}

/// An array whose type is known at run time, read in A.
template <class A>
struct Reader {
  const char* data;
  ScalarType dtype;
  int item;

  Reader() = default;
  explicit Reader(const Tensor& t)
      : data(static_cast<const char*>(t.defined() ? t.data_ptr() : nullptr)),
        dtype(t.defined() ? t.dtype() : dtype_of<A>()),
        item(t.defined() ? static_cast<int>(t.element_size()) : 0) {}
  __device__ A operator[](int64_t i) const { return load_as<A>(data + i * item, dtype); }
  /// Elements at[k], whose loads overlap.
  __device__ void gather(const int64_t (&at)[4], A (&out)[4]) const {
    with_stored<A>(dtype, [&]<class T>(T) {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        out[k] = static_cast<A>(widen(reinterpret_cast<const T*>(data)[at[k]]));
    });
  }
  /// Elements [i, i + 4) of n; `vector`: the data starts at a multiple of 16 bytes.
  __device__ void four(int64_t i, int64_t n, bool vector, A (&out)[4]) const {
    if (vector) return load4<A>(data, dtype, i, n, out);
#pragma unroll
    for (int k = 0; k < 4; ++k) out[k] = i + k < n ? (*this)[i + k] : A(0);
  }
  /// Elements first, first + step, ..: four at a time, so that their loads overlap.
  template <class F>
  __device__ void for_each(int64_t base, int64_t first, int64_t end, int64_t step, F&& f) const {
    int64_t i = first;
    for (; i + 3 * step < end; i += 4 * step) {
      A x[4];
      with_stored<A>(dtype, [&]<class T>(T) {
        const T* from = reinterpret_cast<const T*>(data) + base;
#pragma unroll
        for (int k = 0; k < 4; ++k) x[k] = static_cast<A>(widen(from[i + k * step]));
      });
#pragma unroll
      for (int k = 0; k < 4; ++k) f(i + k * step, x[k]);
    }
    for (; i < end; i += step) f(i, (*this)[base + i]);
  }
};

/// Packs of V neighbours from elements at[b] on of N arrays, of which the first `count` are there.
template <int N, int V, int B, class A>
__device__ void read_packs(const Reader<A> (&in)[N], const int64_t (&at)[B], int count, bool vector,
                           A (&out)[N][B][V]) {
  int64_t bytes[B];
#pragma unroll
  for (int b = 0; b < B; ++b) bytes[b] = at[b] * in[0].item;
  if constexpr (N == 1) {
    load_packs({in[0].data}, in[0].dtype, bytes, count, vector, out);
  } else if (in[0].dtype == in[1].dtype) {
    load_packs({in[0].data, in[1].data}, in[0].dtype, bytes, count, vector, out);
  } else {
    A one[1][B][V];
#pragma unroll
    for (int i = 0; i < N; ++i) {
      read_packs<1>({in[i]}, at, count, vector, one);
#pragma unroll
      for (int b = 0; b < B; ++b)
#pragma unroll
        for (int k = 0; k < V; ++k) out[i][b][k] = one[0][b][k];
    }
  }
}

template <class A>
struct Writer {
  char* data;
  ScalarType dtype;
  int item;

  Writer() = default;
  explicit Writer(const Tensor& t)
      : data(static_cast<char*>(t.defined() ? t.data_ptr() : nullptr)),
        dtype(t.defined() ? t.dtype() : dtype_of<A>()),
        item(t.defined() ? static_cast<int>(t.element_size()) : 0) {}
  __device__ void set(int64_t i, A value) const { store_as<A>(data + i * item, dtype, value); }
  __device__ void four(int64_t i, int64_t n, bool vector, const A (&in)[4]) const {
    if (vector) return store4<A>(data, dtype, i, n, in);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k < n) set(i + k, in[k]);
  }
};

}  // namespace taeda::inline v0_2::gpu
