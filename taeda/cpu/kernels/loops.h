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
#include <initializer_list>
#include <tuple>

#include "taeda/kernels/complex_type.h"
#include "taeda/kernels/pointwise.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// A formula for contiguous arrays of the types it computes in, with the types forgotten.
struct BlockKernel {
  using Compute = void (*)(const void* formula, void* out, const void* const* in, int64_t n);
  Compute compute;
  /// `compute` where input i is one value for all n; null where there is none.
  Compute beside_value[2] = {};
  /// `compute` where all inputs but the first are one value each; null where there is none.
  Compute beside_values = nullptr;
  const void* formula;
  /// What lies in memory, unless the Iter says otherwise (Iter::is_mixed). A 16-bit float is
  /// widened to float before and rounded after the formula.
  ScalarType out;
  ScalarType in[Iter::kMaxOperands];
};

/// Runs `k` over all elements of `it`, from several threads when there are many.
void run_blocks(const Iter& it, const BlockKernel& k);

/// Whether any |x| is above `bound`, infinite or not a number.
template <class T>
bool any_beyond(const T* x, int64_t n, T bound) {
  int beyond = 0;
  for (int64_t i = 0; i < n; ++i) beyond |= !((x[i] < 0 ? -x[i] : x[i]) <= bound);
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
/// a type's numbers up to `Formula::bound`, or for those that `Formula::fits` says, which
/// vectorises while the general one does not. Flattened: a formula that stayed a call would keep
/// the loop from vectorising.
template <class Formula, class Out, class... In>
struct BlockLoop {
  static constexpr bool has_bounded = [] {
    if constexpr (requires(const Formula f) { f.bounded(In()...); })
      return (std::is_same_v<In, decltype(std::declval<const Formula&>().bounded(In()...))> && ...);
    else
      return false;
  }();
  using First = std::tuple_element_t<0, std::tuple<In..., void>>;
  /// Elements that take the same form: parts whose ends do not depend on the number of threads.
  static constexpr int64_t kPart = 256;

  template <size_t... I>
  static bool fits(const Formula&, const void* const* in, int64_t begin, int64_t end,
                   std::index_sequence<I...>) {
    int beyond = 0;
    if constexpr (requires { Formula::fits(In()...); })
      for (int64_t i = begin; i < end; ++i) beyond |= !Formula::fits(element<In>(in[I], i)...);
    else
      beyond = any_beyond<First>(static_cast<const First*>(in[0]) + begin, end - begin,
                                 First(Formula::bound));
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

/// The loop of a formula of two operands of type In, of which number `Value` is one value.
template <int Value, class Formula, class Out, class In, class>
__attribute__((flatten)) void loop_beside_value(const void* formula, void* out,
                                                const void* const* in, int64_t n) {
  const Formula f = *static_cast<const Formula*>(formula);
  Out* const to = static_cast<Out*>(out);
  const void* const array = in[1 - Value];
  const In value = element<In>(in[Value], 0);
  const auto each = [&](int64_t begin, int64_t end, auto&& of_two) __attribute__((always_inline)) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i)
      to[i] =
          Value == 0 ? of_two(value, element<In>(array, i)) : of_two(element<In>(array, i), value);
  };
  if constexpr (is_complex_v<In> && BlockLoop<Formula, Out, In, In>::has_bounded) {
    constexpr int64_t part = BlockLoop<Formula, Out, In, In>::kPart;
    for (int64_t begin = 0; begin < n; begin += part) {
      const int64_t end = std::min(begin + part, n);
      int beyond = 0;
      for (int64_t i = begin; i < end; ++i)
        beyond |= Value == 0 ? !Formula::fits(value, element<In>(array, i))
                             : !Formula::fits(element<In>(array, i), value);
      if (beyond)
        each(begin, end, f);
      else
        each(begin, end, [&f](In a, In b) { return f.bounded(a, b); });
    }
  } else {
    each(0, n, f);
  }
}

/// The loop of a formula of three operands, of which the last two are one value each.
template <class Formula, class Out, class In, class, class>
__attribute__((flatten)) void loop_beside_values(const void* formula, void* out,
                                                 const void* const* in, int64_t n) {
  const Formula f = *static_cast<const Formula*>(formula);
  Out* const to = static_cast<Out*>(out);
  const void* const array = in[0];
  const In a = element<In>(in[1], 0), b = element<In>(in[2], 0);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) to[i] = f(element<In>(array, i), a, b);
}

/// A formula that multiplies its second operand by a factor, as `add` does, has no loop beside a
/// value unless the factor is 1: the product would leave the loop and be rounded by itself, so that
/// last bits followed the layout.
template <class Formula>
bool has_factor(const Formula& formula) {
  if constexpr (requires { formula.formula; })
    return has_factor(formula.formula);
  else if constexpr (requires { formula.alpha; })
    return formula.alpha != decltype(formula.alpha)(1);
  else
    return false;
}

/// Whether every result of Op of numbers that BFloat16 has is such a number, too.
template <class Op>
constexpr bool keeps_bfloat16 = false;

/// What Op does to the bits of 16-bit floats, where it is as simple as that: specialised with a
/// call operator of uint16_t and, for masks, bool.
template <class Op>
struct BitFormula;

/// A formula of BFloat16: each number is widened and, unless results are `Kept`, rounded on its
/// way.
template <class Formula, bool Kept = false>
struct OnBFloat16 {
  Formula formula;
  template <class... In>
  TAEDA_ALWAYS_INLINE auto operator()(In... in) const {
    const auto y = formula(static_cast<float>(in)...);
    if constexpr (!std::is_same_v<decltype(y), const float>)
      return y;
    else if constexpr (Kept)
      return static_cast<uint16_t>(__builtin_bit_cast(uint32_t, y) >> 16);
    else
      return BFloat16(y);
  }
};

/// A formula of operands of types In that gives R.
template <class Op, bool Cheap, class R, class... In, class Formula>
void run_formula(const Iter& it, const Formula& formula, ScalarType out,
                 std::initializer_list<ScalarType> in) {
  BlockKernel k;
  k.compute = &BlockLoop<Formula, R, In...>::run;
  if constexpr (Cheap && Op::arity == 2) {
    if (!has_factor(formula)) {
      k.beside_value[0] = &loop_beside_value<0, Formula, R, In...>;
      k.beside_value[1] = &loop_beside_value<1, Formula, R, In...>;
    }
  }
  if constexpr (Cheap && Op::arity == 3 && mask_count<Op> == 0)
    k.beside_values = &loop_beside_values<Formula, R, In...>;
  k.formula = &formula;
  k.out = out;
  std::copy(in.begin(), in.end(), k.in);
  run_blocks(it, k);
}

/// `Cheap`: whether bringing operands into a buffer takes as long as the formula, so that it has
/// loops beside a value and of BFloat16.
template <class Op, bool Cheap, class T, size_t... I>
void run_typed(const Iter& it, const Op& op, std::index_sequence<I...>) {
  using M = opmath_t<T>;
  const auto formula = bind_pointwise<M>(op);
  if constexpr (sizeof(T) == 2 && !std::is_same_v<T, M> && requires { BitFormula<Op>{}; }) {
    if (!it.is_mixed())
      return run_formula<Op, Cheap, uint16_t, input_t<Op, uint16_t, I>...>(
          it, BitFormula<Op>{}, kShort, {(I < mask_count<Op> ? kBool : kShort)...});
  }
  using R = std::decay_t<decltype(formula(std::declval<input_t<Op, M, I>>()...))>;
  if constexpr (Cheap && std::is_same_v<T, BFloat16>) {
    constexpr bool kept = keeps_bfloat16<Op>;
    using Narrow = std::conditional_t<kept, uint16_t, T>;
    using Out = std::conditional_t<std::is_same_v<R, M>, Narrow, R>;
    // To the driver they are some 16 bits.
    constexpr ScalarType bits = kShort, out = std::is_same_v<R, M> ? bits : dtype_of<R>();
    if (!it.is_mixed())
      return run_formula<Op, Cheap, Out, input_t<Op, T, I>...>(
          it, OnBFloat16<std::decay_t<decltype(formula)>, kept>{formula}, out,
          {dtype_of<input_t<Op, T, I>>() == kBFloat16 ? bits : dtype_of<input_t<Op, T, I>>()...});
  }
  run_formula<Op, Cheap, R, input_t<Op, M, I>...>(
      it, formula, dtype_of<std::conditional_t<std::is_same_v<R, M>, T, R>>(),
      {dtype_of<input_t<Op, T, I>>()...});
}

/// The kernel of a pointwise functor.
template <class Op, bool Cheap>
void pointwise_kernel(const Iter& it, const FunctorBytes& bytes) {
  const Op op = bytes.as<Op>();
  dispatch(typename Op::Types{}, Op::name, it.common_dtype(), [&]<class T>() {
    run_typed<Op, Cheap, T>(it, op, std::make_index_sequence<Op::arity>());
  });
}

/// Fills the CPU slots of a closed list of functors, some of which are `Cheap`.
template <class List, class... Cheap>
void register_pointwise() {
  List::for_each([]<class Op>() {
    constexpr bool cheap = (std::is_same_v<Op, Cheap> || ...);
    pointwise_slot<Op>.set(kCPU, &pointwise_kernel<Op, cheap>);
  });
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
