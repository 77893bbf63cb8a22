// The kernel of formulas over operands with strides or of several dtypes: Note [Two kernels] in
// pointwise.cuh.
#pragma once

#include <algorithm>
#include <cstring>

#include "taeda/cuda/kernels/convert.cuh"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::gpu {

/// Operands of a strided kernel; number 0 is the output. Values are kept as arithmetic wants them,
/// but for those of another dtype.
template <int N>
struct StridedOperands {
  char* data[N];
  alignas(16) char value[N][16];
  ScalarType dtype[N], stored[N];  // what the formula takes or gives; what lies in memory
  bool is_value[N];
  bool neighbours;  // Note [Neighbours]
  bool packed[N];
  Offsets<N> offsets;
};

/// Elements that a thread of a strided kernel takes at a time, so that their loads overlap.
constexpr int kBatch = 4;

// Note [Neighbours]
// Where the innermost dimension has a multiple of kBatch elements, which in every operand lie side
// by side or are one, as of a bias beside rows or planes, a thread takes neighbours: one address is
// computed for all of them, and what lies side by side, suitably aligned, is moved as one word.
// Else its elements are a grid apart, so that neighbouring threads have neighbouring ones.
template <class M>
struct Batch {
  M x[kBatch];
};

/// Where elements first, first + step, .. lie; for those behind the last of n, where the first
/// does.
template <int N>
__device__ void locate_batch(const Offsets<N>& o, int64_t first, int64_t step, int64_t n,
                             int64_t (&at)[kBatch][N]) {
  if (step == 1) {  // neighbours
    o.at(first, at[0]);
#pragma unroll
    for (int k = 1; k < kBatch; ++k)
#pragma unroll
      for (int j = 0; j < N; ++j) at[k][j] = at[0][j] + k * o.stride[j][0];
    return;
  }
  int64_t i[kBatch];
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    i[k] = first + k * step < n ? first + k * step : first;
#pragma unroll
    for (int j = 0; j < N; ++j) at[k][j] = 0;
  }
#pragma unroll 1
  for (int d = 0; d + 1 < o.ndim; ++d) {
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      int64_t rest;
      o.size[d].divide(i[k], i[k], rest);
#pragma unroll
      for (int j = 0; j < N; ++j) at[k][j] += rest * o.stride[j][d];
    }
  }
  if (o.ndim == 0) return;
#pragma unroll
  for (int k = 0; k < kBatch; ++k)
#pragma unroll
    for (int j = 0; j < N; ++j) at[k][j] += i[k] * o.stride[j][o.ndim - 1];
}

/// Elements that are T in memory.
template <class M, class T, int N>
__device__ Batch<M> load_as_batch(const StridedOperands<N>& o, int i,
                                  const int64_t (&at)[kBatch][N]) {
  Pack<T, kBatch> stored;
  if (o.packed[i]) {
    stored = *reinterpret_cast<const Pack<T, kBatch>*>(o.data[i] + at[0][i]);
  } else {
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      stored.x[k] = *reinterpret_cast<const T*>(o.data[i] + at[k][i]);
  }
  Batch<M> out;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) out.x[k] = widen(stored.x[k]);
  return out;
}

/// Elements that are `stored` in memory and `as` for the formula.
template <class M>
__device__ __attribute__((noinline)) Batch<M> load_other_batch(const char* data, ScalarType stored,
                                                               ScalarType as, int64_t a, int64_t b,
                                                               int64_t c, int64_t d) {
  static_assert(kBatch == 4);
  Batch<M> out{};
  with_dtype(AllTypes{}, stored, [&]<class T>(T) {
    out = {{load_converted<M, T>(data + a), load_converted<M, T>(data + b),
            load_converted<M, T>(data + c), load_converted<M, T>(data + d)}};
  });
  for (int k = 0; k < kBatch; ++k) out.x[k] = rounded_to(as, out.x[k]);
  return out;
}
/// Stores the first `count` results, which the formula gives as `as`, as `stored`.
template <class R>
__device__ __attribute__((noinline)) void store_other_batch(char* data, ScalarType stored,
                                                            ScalarType as, Batch<R> r, int count,
                                                            int64_t a, int64_t b, int64_t c,
                                                            int64_t d) {
  const int64_t at[kBatch] = {a, b, c, d};
  with_dtype(AllTypes{}, stored, [&]<class T>(T) {
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k < count) store_converted<T>(data + at[k], rounded_to(as, r.x[k]));
  });
}

/// Elements of operand i, which are M in memory or, for M = float, maybe 16-bit floats.
template <class M, int N>
__device__ Batch<M> load_batch(const StridedOperands<N>& o, int i, const int64_t (&at)[kBatch][N]) {
  if (o.stored[i] != o.dtype[i])
    return load_other_batch<M>(o.is_value[i] ? o.value[i] : o.data[i], o.stored[i], o.dtype[i],
                               at[0][i], at[1][i], at[2][i], at[3][i]);
  if (o.is_value[i]) {
    Batch<M> out;
#pragma unroll
    for (int k = 0; k < kBatch; ++k) out.x[k] = *reinterpret_cast<const M*>(o.value[i]);
    return out;
  }
  if constexpr (std::is_same_v<M, float>) {
    if (o.dtype[i] == kHalf) return load_as_batch<M, Half>(o, i, at);
    if (o.dtype[i] == kBFloat16) return load_as_batch<M, BFloat16>(o, i, at);
  }
  return load_as_batch<M, M>(o, i, at);
}

/// Stores all results, neighbours, as S.
template <class S, class R>
__device__ void store_pack(char* p, const Batch<R>& r) {
  Pack<S, kBatch> out;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) out.x[k] = narrow<S>(r.x[k]);
  *reinterpret_cast<Pack<S, kBatch>*>(p) = out;
}

/// Stores the first `count` results.
template <class R, int N>
__device__ void store_batch(const StridedOperands<N>& o, const int64_t (&at)[kBatch][N],
                            const Batch<R>& r, int count) {
  const ScalarType stored = o.stored[0];
  if (stored != o.dtype[0])
    return store_other_batch<R>(o.data[0], stored, o.dtype[0], r, count, at[0][0], at[1][0],
                                at[2][0], at[3][0]);
  if (o.packed[0]) {
    char* p = o.data[0] + at[0][0];
    if constexpr (std::is_same_v<R, float>) {
      if (stored == kHalf) return store_pack<Half>(p, r);
      if (stored == kBFloat16) return store_pack<BFloat16>(p, r);
    }
    return store_pack<R>(p, r);
  }
#pragma unroll
  for (int k = 0; k < kBatch; ++k) {
    if (k >= count) return;
    char* p = o.data[0] + at[k][0];
    if constexpr (std::is_same_v<R, float>) {
      if (stored == kHalf) {
        *reinterpret_cast<Half*>(p) = narrow<Half>(r.x[k]);
        continue;
      }
      if (stored == kBFloat16) {
        *reinterpret_cast<BFloat16*>(p) = narrow<BFloat16>(r.x[k]);
        continue;
      }
    }
    *reinterpret_cast<R*>(p) = r.x[k];
  }
}

template <class R, class Formula, int N, class... In>
__device__ void compute_batch(const Formula& f, const StridedOperands<N>& o, int count,
                              const int64_t (&at)[kBatch][N], const Batch<In>&... in) {
  Batch<R> r;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) r.x[k] = f(in.x[k]...);
  store_batch(o, at, r, count);
}

template <class R, class Formula, class... In, size_t... I>
__device__ void strided_batch(const Formula& f, const StridedOperands<sizeof...(In) + 1>& o,
                              int64_t first, int64_t step, int64_t n, std::index_sequence<I...>) {
  int64_t at[kBatch][sizeof...(In) + 1];
  locate_batch(o.offsets, first, step, n, at);
  int count = 0;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) count += first + k * step < n;
  compute_batch<R>(f, o, count, at, load_batch<In>(o, I + 1, at)...);
}

template <class R, class Formula, class... In>
__global__ void __launch_bounds__(kThreads)
    strided_kernel(const Formula f, const __grid_constant__ StridedOperands<sizeof...(In) + 1> o,
                   int64_t n) {
  const int64_t step = o.neighbours ? 1 : thread_count();
  for (int64_t i = thread_index() * (o.neighbours ? kBatch : 1); i < n;
       i += kBatch * thread_count())
    strided_batch<R, Formula, In...>(f, o, i, step, n, std::index_sequence_for<In...>());
}

/// A number that is `stored`, as arithmetic wants the formula's `t` if it is one.
inline void keep_value(char* to, const char* from, ScalarType stored, ScalarType t) {
  if (stored != t || (t != kHalf && t != kBFloat16)) {
    std::memcpy(to, from, static_cast<size_t>(element_size(stored)));
    return;
  }
  uint16_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  Half half;
  BFloat16 brain;
  half.bits = brain.bits = bits;
  const float value = t == kHalf ? static_cast<float>(half) : static_cast<float>(brain);
  std::memcpy(to, &value, sizeof(value));
}

/// Whether an operand's elements lie side by side in words of kBatch.
template <int N>
bool is_packed(const StridedOperands<N>& o, int i) {
  const int64_t item = element_size(o.stored[i]), word = kBatch * item;
  bool packed = o.offsets.stride[i][0] == item &&
                reinterpret_cast<uintptr_t>(o.data[i]) %
                        static_cast<uintptr_t>(std::min<int64_t>(word, 16)) ==
                    0;
  for (int d = 1; d < o.offsets.ndim; ++d) packed &= o.offsets.stride[i][d] % word == 0;
  return packed;
}

/// Fills in what Note [Neighbours] is about.
template <int N>
void find_neighbours(StridedOperands<N>& o) {
  if (o.offsets.ndim == 0 || o.offsets.size[0].divisor % kBatch != 0) return;
  bool all = true;
  for (int i = 0; i < N; ++i) {
    o.packed[i] = !o.is_value[i] && o.stored[i] == o.dtype[i] && is_packed(o, i);
    all &= o.is_value[i] || o.packed[i] || o.offsets.stride[i][0] == 0;
  }
  o.neighbours = all && o.packed[0];
  for (int i = 0; i < N; ++i) o.packed[i] &= o.neighbours;
}

template <int N>
StridedOperands<N> strided_operands(const Iter& it, const ScalarType (&dtypes)[N]) {
  StridedOperands<N> o{};
  for (int i = 0; i < N; ++i) {
    o.dtype[i] = dtypes[i];
    o.stored[i] = it.is_mixed(i) ? it.stored_dtype(i) : dtypes[i];
    o.is_value[i] = it.is_scalar(i);
    o.data[i] = o.is_value[i] ? nullptr : it.data(i);
    if (o.is_value[i]) keep_value(o.value[i], it.data(i), o.stored[i], o.dtype[i]);
  }
  for (int d = 0; d < it.ndim(); ++d) {
    int64_t strides[N];
    for (int i = 0; i < N; ++i) strides[i] = it.stride(i, d);
    o.offsets.add(it.size(d), strides);
  }
  o.offsets.finish();
  find_neighbours(o);
  return o;
}

}  // namespace taeda::inline v0_2::gpu
