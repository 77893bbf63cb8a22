// What a pointwise operation is: a functor that states its name and types, and a slot for it.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "taeda/base/dtype.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

/// A pointwise functor's parameters as plain bytes, so that every such slot has one signature and a
/// launch can be queued.
struct FunctorBytes {
  static constexpr size_t kMax = 64;
  alignas(16) char bytes[kMax];

  template <class Op>
  static FunctorBytes from(const Op& op) {
    static_assert(sizeof(Op) <= kMax && std::is_trivially_copyable_v<Op>);
    FunctorBytes out;
    std::memcpy(out.bytes, &op, sizeof(Op));
    return out;
  }
  template <class Op>
  Op as() const {
    Op op;
    std::memcpy(static_cast<void*>(&op), bytes, sizeof(Op));
    return op;
  }
};

using PointwiseSlot = Slot<void(const Iter&, const FunctorBytes&)>;

/// Whether the pointwise kernels of a device type convert operands of other dtypes themselves
/// (Iter::is_mixed). Whoever fills that type's slots says so; for other types operations cast whole
/// tensors before the call.
bool converts_operands(DeviceType type);
void set_converts_operands(DeviceType type);

/// The slot of functor Op. Op is a small trivially copyable struct with
///   static constexpr const char* name;         for errors and profiles
///   static constexpr int arity;                number of inputs, 0 to 4
///   using Types = TypeList<...>;               dtypes it computes in
///   template <class T> R operator()(T, ...)    the formula; T is float for the 16-bit types
/// R is T (the common dtype) or bool. An Op with parameters has, instead of operator(), a
/// `template <class T> auto bind() const` that returns the formula for T with its constants
/// converted. Optional: `static constexpr bool promotes_to_float = true` (integers compute in the
/// default float dtype), `static ScalarType result_dtype(ScalarType common)`, `static constexpr int
/// masks = n` (the first n inputs are bool and take no part in promotion), `static constexpr
/// F complex_form` (the functor that serves complex numbers, where Op's own types have none).
template <class Op>
inline PointwiseSlot pointwise_slot{Op::name};

/// A functor of `inputs` operands that computes in the dtypes `T`; one with parameters states both
/// itself.
template <int inputs, class T>
struct Pointwise {
  static constexpr int arity = inputs;
  using Types = T;
};
/// One that computes in floats, and takes integers as such.
template <int inputs>
struct FloatPointwise : Pointwise<inputs, FloatTypes> {
  static constexpr bool promotes_to_float = true;
};

/// The formula of Op for operands of type T.
template <class T, class Op>
TAEDA_ALWAYS_INLINE auto bind_pointwise(const Op& op) {
  if constexpr (requires { op.template bind<T>(); })
    return op.template bind<T>();
  else
    return op;
}

/// How many of Op's inputs are masks.
template <class Op>
constexpr size_t mask_count = [] {
  if constexpr (requires { Op::masks; })
    return static_cast<size_t>(Op::masks);
  else
    return size_t{0};
}();

/// The type of Op's input I when it computes in T.
template <class Op, class T, size_t I>
using input_t = std::conditional_t<(I < mask_count<Op>), bool, T>;

namespace detail {
template <class Op, class T, size_t... I>
auto pointwise_result(std::index_sequence<I...>) -> std::decay_t<
    decltype(bind_pointwise<T>(std::declval<const Op&>())(std::declval<input_t<Op, T, I>>()...))>;
template <class List>
struct First;
template <class T, class... Rest>
struct First<TypeList<T, Rest...>> {
  using type = T;
};
}  // namespace detail

/// What Op's formula returns for operands of type T.
template <class Op, class T>
using pointwise_result_t =
    decltype(detail::pointwise_result<Op, T>(std::make_index_sequence<Op::arity>()));

/// Whether Op answers yes or no.
template <class Op>
constexpr bool is_predicate =
    std::is_same_v<
        pointwise_result_t<Op, opmath_t<typename detail::First<typename Op::Types>::type>>, bool> &&
    !std::is_same_v<typename Op::Types, TypeList<bool>>;

/// A backend's registration of a closed list of functors: `fill.template operator()<Op>()` for
/// each.
template <class... Op>
struct OpList {
  template <class F>
  static void for_each(F&& f) {
    (f.template operator()<Op>(), ...);
  }
};

}  // namespace taeda
