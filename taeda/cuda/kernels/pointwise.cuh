// How pointwise formulas run on a GPU.
//
// Note [Two kernels]
// Operands that are arrays or single values, suitably aligned, go through `flat_kernel`: a thread
// takes as many neighbouring elements as fill 16 bytes. Everything else - strides, broadcasting -
// goes through `strided_kernel`, which computes addresses by fast division. That one is compiled
// for the types that arithmetic is done in; the 16-bit floats are told apart while it runs, the
// same way in all threads.
#pragma once

#include <algorithm>

#include "taeda/cuda/kernels/common.cuh"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2::gpu {

enum class Access : int { Array, Value, Single };

/// The inputs of a flat kernel: arrays, numbers held here, or one element on the device.
template <int N>
struct FlatInputs {
  const char* data[N ? N : 1];
  alignas(16) char value[N ? N : 1][16];
  Access access[N ? N : 1];
};

template <class T, int V, int N>
__device__ Pack<T, V> load_pack(const FlatInputs<N>& in, int i, int64_t pack, int64_t n) {
  Pack<T, V> out;
  if (in.access[i] == Access::Array) {
    const T* from = reinterpret_cast<const T*>(in.data[i]);
    if ((pack + 1) * V <= n) return reinterpret_cast<const Pack<T, V>*>(from)[pack];
#pragma unroll
    for (int k = 0; k < V; ++k) out.x[k] = pack * V + k < n ? from[pack * V + k] : T();
    return out;
  }
  const T one = in.access[i] == Access::Value ? *reinterpret_cast<const T*>(in.value[i])
                                              : *reinterpret_cast<const T*>(in.data[i]);
#pragma unroll
  for (int k = 0; k < V; ++k) out.x[k] = one;
  return out;
}

template <int V, class Formula, class Out, class... In>
__device__ void compute_pack(const Formula& f, Out* out, int64_t pack, int64_t n,
                             const Pack<In, V>&... in) {
  Pack<Out, V> result;
#pragma unroll
  for (int k = 0; k < V; ++k) result.x[k] = narrow<Out>(f(widen(in.x[k])...));
  if ((pack + 1) * V <= n) {
    reinterpret_cast<Pack<Out, V>*>(out)[pack] = result;
    return;
  }
#pragma unroll
  for (int k = 0; k < V; ++k)
    if (pack * V + k < n) out[pack * V + k] = result.x[k];
}

template <int V, class Formula, class Out, class... In, size_t... I>
__device__ void flat_pack(const Formula& f, Out* out, const FlatInputs<sizeof...(In)>& in,
                          int64_t pack, int64_t n, std::index_sequence<I...>) {
  compute_pack<V>(f, out, pack, n, load_pack<In, V>(in, I, pack, n)...);
}

template <int V, class Formula, class Out, class... In>
__global__ void __launch_bounds__(kThreads)
    flat_kernel(const Formula f, Out* out, const __grid_constant__ FlatInputs<sizeof...(In)> in,
                int64_t n) {
  const int64_t packs = (n + V - 1) / V;
  for (int64_t p = thread_index(); p < packs; p += thread_count())
    flat_pack<V, Formula, Out, In...>(f, out, in, p, n, std::index_sequence_for<In...>());
}

/// Operands of a strided kernel; number 0 is the output. Values are kept as arithmetic wants them.
template <int N>
struct StridedOperands {
  char* data[N];
  alignas(16) char value[N][16];
  ScalarType dtype[N];
  bool is_value[N];
  Offsets<N> offsets;
};

/// Elements that a thread of a strided kernel takes at a time, so that their loads overlap.
constexpr int kBatch = 4;
template <class M>
struct Batch {
  M x[kBatch];
};

/// Where elements first, first + step, .. lie; for those behind the last of n, where the first
/// does.
template <int N>
__device__ void locate_batch(const Offsets<N>& o, int64_t first, int64_t step, int64_t n,
                             int64_t (&at)[kBatch][N]) {
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
  Batch<T> stored;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) stored.x[k] = *reinterpret_cast<const T*>(o.data[i] + at[k][i]);
  Batch<M> out;
#pragma unroll
  for (int k = 0; k < kBatch; ++k) out.x[k] = widen(stored.x[k]);
  return out;
}

/// Elements of operand i, which are M in memory or, for M = float, maybe 16-bit floats.
template <class M, int N>
__device__ Batch<M> load_batch(const StridedOperands<N>& o, int i, const int64_t (&at)[kBatch][N]) {
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

template <class R>
__device__ void store_any(char* p, ScalarType dtype, R r) {
  if constexpr (std::is_same_v<R, float>) {
    if (dtype == kHalf) {
      *reinterpret_cast<Half*>(p) = narrow<Half>(r);
      return;
    }
    if (dtype == kBFloat16) {
      *reinterpret_cast<BFloat16*>(p) = narrow<BFloat16>(r);
      return;
    }
  }
  *reinterpret_cast<R*>(p) = r;
}

template <class R, class Formula, int N, class... In>
__device__ void compute_batch(const Formula& f, const StridedOperands<N>& o, int64_t first,
                              int64_t step, int64_t n, const int64_t (&at)[kBatch][N],
                              const Batch<In>&... in) {
#pragma unroll
  for (int k = 0; k < kBatch; ++k)
    if (first + k * step < n) store_any<R>(o.data[0] + at[k][0], o.dtype[0], f(in.x[k]...));
}

template <class R, class Formula, class... In, size_t... I>
__device__ void strided_batch(const Formula& f, const StridedOperands<sizeof...(In) + 1>& o,
                              int64_t first, int64_t step, int64_t n, std::index_sequence<I...>) {
  int64_t at[kBatch][sizeof...(In) + 1];
  locate_batch(o.offsets, first, step, n, at);
  compute_batch<R>(f, o, first, step, n, at, load_batch<In>(o, I + 1, at)...);
}

template <class R, class Formula, class... In>
__global__ void __launch_bounds__(kThreads)
    strided_kernel(const Formula f, const __grid_constant__ StridedOperands<sizeof...(In) + 1> o,
                   int64_t n) {
  for (int64_t i = thread_index(); i < n; i += kBatch * thread_count())
    strided_batch<R, Formula, In...>(f, o, i, thread_count(), n, std::index_sequence_for<In...>());
}

/// How an operand's elements lie, in the order of iteration.
inline bool is_array(const Iter& it, int operand, int64_t item) {
  return !it.is_scalar(operand) &&
         (it.numel() == 1 || (it.ndim() == 1 && it.stride(operand, 0) == item));
}
inline bool is_single(const Iter& it, int operand) {
  bool constant = true;
  for (int d = 0; d < it.ndim(); ++d) constant &= it.stride(operand, d) == 0;
  return constant;
}

/// Fills `in` and tells whether the flat kernel serves all operands.
template <int V, class Out, class... In, size_t... I>
bool flat_inputs(const Iter& it, FlatInputs<sizeof...(In)>& in, std::index_sequence<I...>) {
  const auto aligned = [&](int operand, size_t item) {
    return reinterpret_cast<uintptr_t>(it.data(operand)) % (item * V > 16 ? 16 : item * V) == 0;
  };
  bool flat = is_array(it, 0, sizeof(Out)) && aligned(0, sizeof(Out));
  [[maybe_unused]] const auto add = [&](size_t i, size_t item) {
    const int operand = static_cast<int>(i) + 1;
    in.data[i] = it.data(operand);
    if (it.is_scalar(operand)) {
      in.access[i] = Access::Value;
      std::memcpy(in.value[i], it.data(operand), item);
      in.data[i] = nullptr;
    } else if (is_array(it, operand, static_cast<int64_t>(item))) {
      in.access[i] = Access::Array;
      flat &= aligned(operand, item);
    } else {
      in.access[i] = Access::Single;
      flat &= is_single(it, operand);
    }
  };
  (add(I, sizeof(In)), ...);
  return flat;
}

template <class T, class M>
void keep_value(char* to, const char* from) {
  T stored;
  std::memcpy(static_cast<void*>(&stored), from, sizeof(T));
  const M value = static_cast<M>(stored);
  std::memcpy(to, &value, sizeof(M));
}

/// Runs `f` over `it`. Out and In are what lies in memory.
template <class Formula, class Out, class... In, size_t... I>
void run_formula(const Iter& it, const Formula& f, std::index_sequence<I...> order) {
  constexpr int kInputs = sizeof...(In);
  constexpr size_t kWidest = std::max({sizeof(Out), sizeof(In)...});
  constexpr int V = kWidest >= 16 ? 1 : kWidest <= 2 ? 8 : static_cast<int>(16 / kWidest);
  const int64_t n = it.numel();
  if (n == 0) return;
  const Context context(it.device());
  FlatInputs<kInputs> in{};
  if (flat_inputs<V, Out, In...>(it, in, order)) {
    flat_kernel<V, Formula, Out, In...>
        <<<blocks_for((n + V - 1) / V), kThreads, 0, context.stream>>>(
            f, reinterpret_cast<Out*>(it.data(0)), in, n);
    return context.launched(it.op());
  }
  StridedOperands<kInputs + 1> o{};
  const ScalarType dtypes[] = {dtype_of<Out>(), dtype_of<In>()...};
  for (int i = 0; i <= kInputs; ++i) {
    o.dtype[i] = dtypes[i];
    o.is_value[i] = it.is_scalar(i);
    o.data[i] = o.is_value[i] ? nullptr : it.data(i);
  }
  ((o.is_value[I + 1] ? keep_value<In, opmath_t<In>>(o.value[I + 1], it.data(I + 1)) : void()),
   ...);
  for (int d = 0; d < it.ndim(); ++d) {
    int64_t strides[kInputs + 1];
    for (int i = 0; i <= kInputs; ++i) strides[i] = it.stride(i, d);
    o.offsets.add(it.size(d), strides);
  }
  o.offsets.finish();
  strided_kernel<opmath_t<Out>, Formula, opmath_t<In>...>
      <<<blocks_for((n + kBatch - 1) / kBatch), kThreads, 0, context.stream>>>(f, o, n);
  context.launched(it.op());
}

template <class Op, class T, size_t... I>
void run_pointwise(const Iter& it, const Op& op, std::index_sequence<I...> order) {
  using M = opmath_t<T>;
  const auto formula = bind_pointwise<M>(op);
  using R = pointwise_result_t<Op, M>;
  using Out = std::conditional_t<std::is_same_v<R, M>, T, R>;
  run_formula<std::decay_t<decltype(formula)>, Out, input_t<Op, T, I>...>(it, formula, order);
}

/// The kernel of a pointwise functor.
template <class Op>
void pointwise_cuda(const Iter& it, const FunctorBytes& bytes) {
  const Op op = bytes.as<Op>();
  dispatch(typename Op::Types{}, Op::name, it.common_dtype(),
           [&]<class T>() { run_pointwise<Op, T>(it, op, std::make_index_sequence<Op::arity>()); });
}

/// Fills the CUDA slots of a closed list of functors.
template <class List>
void register_pointwise() {
  List::for_each([]<class Op>() { pointwise_slot<Op>.set(kCUDA, &pointwise_cuda<Op>); });
}

}  // namespace taeda::gpu
