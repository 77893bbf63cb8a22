// How pointwise formulas run on a GPU.
//
// Note [Two kernels]
// Operands that are arrays or single values, suitably aligned, go through `flat_kernel`: a thread
// takes as many neighbouring elements as fill 16 bytes. Everything else - strides, broadcasting -
// goes through `strided_kernel`, which computes addresses by fast division. That one is compiled
// for the types that arithmetic is done in; the 16-bit floats are told apart while it runs, the
// same way in all threads. It also takes operands of other dtypes than the formula's, by functions
// that all kernels call: inlined, their switches would be most of each kernel.
#pragma once

#include <algorithm>

#include "taeda/cuda/kernels/strided.cuh"
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

/// Fills `in` and tells whether the flat kernel serves all operands. Items are bytes of an element.
template <int N>
bool flat_inputs(const Iter& it, const int64_t (&items)[N + 1], int64_t v, FlatInputs<N>& in) {
  if (it.is_mixed()) return false;
  const auto aligned = [&](int operand) {
    return reinterpret_cast<uintptr_t>(it.data(operand)) %
               std::min<uintptr_t>(16, static_cast<uintptr_t>(items[operand] * v)) ==
           0;
  };
  bool flat = is_array(it, 0, items[0]) && aligned(0);
  for (int i = 0; i < N; ++i) {
    const int operand = i + 1;
    in.data[i] = it.data(operand);
    if (it.is_scalar(operand)) {
      in.access[i] = Access::Value;
      std::memcpy(in.value[i], it.data(operand), static_cast<size_t>(items[operand]));
      in.data[i] = nullptr;
    } else if (is_array(it, operand, items[operand])) {
      in.access[i] = Access::Array;
      flat &= aligned(operand);
    } else {
      in.access[i] = Access::Single;
      flat &= is_single(it, operand);
    }
  }
  return flat;
}

/// Runs `f` over `it`. Out and In are what the formula gives and takes, as they are stored.
template <class Formula, class Out, class... In>
void run_formula(const Iter& it, const Formula& f) {
  constexpr int kInputs = sizeof...(In);
  constexpr size_t kWidest = std::max({sizeof(Out), sizeof(In)...});
  constexpr int V = kWidest >= 16 ? 1 : kWidest <= 2 ? 8 : static_cast<int>(16 / kWidest);
  const int64_t n = it.numel();
  if (n == 0) return;
  const Context context(it.device());
  FlatInputs<kInputs> in{};
  if (flat_inputs<kInputs>(it, {sizeof(Out), sizeof(In)...}, V, in)) {
    flat_kernel<V, Formula, Out, In...>
        <<<blocks_for((n + V - 1) / V), kThreads, 0, context.stream>>>(
            f, reinterpret_cast<Out*>(it.data(0)), in, n);
  } else {
    strided_kernel<opmath_t<Out>, Formula, opmath_t<In>...>
        <<<blocks_for((n + kBatch - 1) / kBatch), kThreads, 0, context.stream>>>(
            f, strided_operands<kInputs + 1>(it, {dtype_of<Out>(), dtype_of<In>()...}), n);
  }
  context.launched(it.op());
}

template <class Op, class T, size_t... I>
void run_pointwise(const Iter& it, const Op& op, std::index_sequence<I...>) {
  using M = opmath_t<T>;
  const auto formula = bind_pointwise<M>(op);
  using R = pointwise_result_t<Op, M>;
  using Out = std::conditional_t<std::is_same_v<R, M>, T, R>;
  run_formula<std::decay_t<decltype(formula)>, Out, input_t<Op, T, I>...>(it, formula);
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
