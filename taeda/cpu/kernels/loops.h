// The inner loops of pointwise kernels: plain code that the compiler vectorises for the instruction
// set this translation unit is built for. Everything lives in a namespace per instruction set.
#pragma once

#include "taeda/kernels/pointwise.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

/// n elements of one run; operand 0 is the output.
template <class T, class Fn, size_t... I>
inline void pointwise_loop(const Fn& fn, char** data, const int64_t* strides, int64_t n,
                           std::index_sequence<I...>) {
  using M = opmath_t<T>;
  using R = std::decay_t<decltype(fn(std::declval<taeda::detail::repeat_t<M, I>>()...))>;
  using O = std::conditional_t<std::is_same_v<R, M>, T, R>;
  constexpr int64_t item = sizeof(T);
  if (strides[0] == sizeof(O)) {
    O* out = reinterpret_cast<O*>(data[0]);
    if (((strides[I + 1] == item) && ...)) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = static_cast<O>(fn(static_cast<M>(reinterpret_cast<const T*>(data[I + 1])[i])...));
      return;
    }
    if constexpr (sizeof...(I) == 2) {
      const T* a = reinterpret_cast<const T*>(data[1]);
      const T* b = reinterpret_cast<const T*>(data[2]);
      if (strides[1] == item && strides[2] == 0) {
        const M y = static_cast<M>(*b);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<O>(fn(static_cast<M>(a[i]), y));
        return;
      }
      if (strides[1] == 0 && strides[2] == item) {
        const M x = static_cast<M>(*a);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<O>(fn(x, static_cast<M>(b[i])));
        return;
      }
    }
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<O*>(data[0] + i * strides[0]) =
        static_cast<O>(fn(static_cast<M>(*reinterpret_cast<const T*>(data[I + 1] + i * strides[I + 1]))...));
}

/// The kernel of a pointwise functor.
template <class Op> void pointwise_kernel(const Iter& it, const FunctorBytes& bytes) {
  const Op op = bytes.as<Op>();
  dispatch(typename Op::Types{}, Op::name, it.common_dtype(), [&]<class T>() {
    const auto fn = bind_pointwise<opmath_t<T>>(op);
    it.for_each([&](char** data, const int64_t* strides, int64_t n) {
      pointwise_loop<T>(fn, data, strides, n, std::make_index_sequence<Op::arity>());
    });
  });
}

/// Fills the CPU slots of a closed list of functors.
template <class List> void register_pointwise() {
  List::for_each([]<class Op>() { pointwise_slot<Op>.set(kCPU, &pointwise_kernel<Op>); });
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
