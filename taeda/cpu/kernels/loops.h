// How pointwise formulas run on the CPU.
//
// Note [Blocks]
// A formula is compiled once for each type it computes in, as a loop over contiguous arrays, which
// the compiler vectorises. Everything else - strides, broadcasting, 16-bit types, operands of other
// dtypes, threads, non-temporal stores - is done by `run_blocks`, once for all formulas: operands
// that are not contiguous arrays of the computing type are brought, a block at a time, into buffers
// that stay in the first-level cache. That keeps the number of instantiations at (formulas x types)
// and the inner loops free of cases.
#pragma once

#include <algorithm>
#include <cstring>

#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// A formula for contiguous arrays of the types it computes in, with the types forgotten.
struct BlockKernel {
  void (*compute)(const void* formula, void* out, const void* const* in, int64_t n);
  const void* formula;
  /// What lies in memory, unless the Iter says otherwise (Iter::is_mixed). A 16-bit float is
  /// widened to float before and rounded after the formula.
  ScalarType out;
  ScalarType in[Iter::kMaxOperands];
};

/// Runs `k` over all elements of `it`, from several threads when there are many.
void run_blocks(const Iter& it, const BlockKernel& k);

/// Whether any |x| is above `bound`, infinite or not a number.
inline bool any_beyond(const float* x, int64_t n, float bound) {
  int beyond = 0;
  for (int64_t i = 0; i < n; ++i) beyond |= !(__builtin_fabsf(x[i]) <= bound);
  return beyond != 0;
}

/// Element i of an operand. Booleans are compared as the bytes that they are: a loop whose
/// condition is a bool from memory would stay a loop of branches.
template <class In>
TAEDA_ALWAYS_INLINE In element(const void* array, int64_t i) {
  if constexpr (std::is_same_v<In, bool>)
    return static_cast<const uint8_t*>(array)[i] != 0;
  else
    return static_cast<const In*>(array)[i];
}

/// The loop of a formula over operands of types In. A formula may have a second form `bounded` for
/// floats up to `Formula::bound`, or for those that `Formula::fits` says, which vectorises while
/// the general one does not. Flattened: a formula that stayed a call would keep the loop from
/// vectorising.
template <class Formula, class Out, class... In>
struct BlockLoop {
  static constexpr bool has_bounded = (std::is_same_v<In, float> && ...) && requires(Formula f) {
    f.bounded(In()...);
  };
  /// Elements that take the same form: parts whose ends do not depend on the number of threads.
  static constexpr int64_t kPart = 256;

  template <size_t... I>
  static bool fits(const Formula&, const void* const* in, int64_t begin, int64_t end,
                   std::index_sequence<I...>) {
    int beyond = 0;
    if constexpr (requires { Formula::fits(In()...); })
      for (int64_t i = begin; i < end; ++i) beyond |= !Formula::fits(element<In>(in[I], i)...);
    else
      beyond = any_beyond(static_cast<const float*>(in[0]) + begin, end - begin, Formula::bound);
    return !beyond;
  }

  template <size_t... I>
  __attribute__((flatten)) static void loop(const Formula& formula, Out* out, const void* const* in,
                                            int64_t n, std::index_sequence<I...> indices) {
    const Formula f = formula;
    const void* const arrays[] = {in[I]..., nullptr};
    if constexpr (has_bounded) {
      for (int64_t begin = 0; begin < n; begin += kPart) {
        const int64_t end = std::min(begin + kPart, n);
        if (fits(f, arrays, begin, end, indices)) {
#pragma GCC ivdep
          for (int64_t i = begin; i < end; ++i) out[i] = f.bounded(element<In>(arrays[I], i)...);
        } else {
          for (int64_t i = begin; i < end; ++i) out[i] = f(element<In>(arrays[I], i)...);
        }
      }
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(element<In>(arrays[I], i)...);
    }
    (void)arrays;
    (void)indices;
  }

  static void run(const void* formula, void* out, const void* const* in, int64_t n) {
    loop(*static_cast<const Formula*>(formula), static_cast<Out*>(out), in, n,
         std::index_sequence_for<In...>{});
  }
};

template <class Op, class T, size_t... I>
void run_typed(const Iter& it, const Op& op, std::index_sequence<I...>) {
  using M = opmath_t<T>;
  const auto formula = bind_pointwise<M>(op);
  using R = std::decay_t<decltype(formula(std::declval<input_t<Op, M, I>>()...))>;
  BlockKernel k;
  k.compute = &BlockLoop<std::decay_t<decltype(formula)>, R, input_t<Op, M, I>...>::run;
  k.formula = &formula;
  k.out = dtype_of<std::conditional_t<std::is_same_v<R, M>, T, R>>();
  ((k.in[I] = dtype_of<input_t<Op, T, I>>()), ...);
  run_blocks(it, k);
}

/// The kernel of a pointwise functor.
template <class Op>
void pointwise_kernel(const Iter& it, const FunctorBytes& bytes) {
  const Op op = bytes.as<Op>();
  dispatch(typename Op::Types{}, Op::name, it.common_dtype(),
           [&]<class T>() { run_typed<Op, T>(it, op, std::make_index_sequence<Op::arity>()); });
}

/// Fills the CPU slots of a closed list of functors.
template <class List>
void register_pointwise() {
  List::for_each([]<class Op>() { pointwise_slot<Op>.set(kCPU, &pointwise_kernel<Op>); });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
