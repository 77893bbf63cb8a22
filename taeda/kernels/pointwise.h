// What a pointwise operation is: a functor that states its name and types, and a slot for it.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "taeda/base/dtype.h"
#include "taeda/kernels/slot.h"
#include "taeda/tensor/iter.h"

namespace taeda {

/// A pointwise functor's parameters as plain bytes, so that every such slot has one signature and a
/// launch can be queued.
struct FunctorBytes {
  static constexpr size_t kMax = 64;
  alignas(16) char bytes[kMax];

  template <class Op> static FunctorBytes from(const Op& op) {
    static_assert(sizeof(Op) <= kMax && std::is_trivially_copyable_v<Op>);
    FunctorBytes out;
    std::memcpy(out.bytes, &op, sizeof(Op));
    return out;
  }
  template <class Op> Op as() const {
    Op op;
    std::memcpy(static_cast<void*>(&op), bytes, sizeof(Op));
    return op;
  }
};

using PointwiseSlot = Slot<void(const Iter&, const FunctorBytes&)>;

/// The slot of functor Op. Op is a small trivially copyable struct with
///   static constexpr const char* name;         for errors and profiles
///   static constexpr int arity;                number of inputs
///   using Types = TypeList<...>;               dtypes it computes in
///   template <class T> R operator()(T, ...)    the formula; T is float for the 16-bit types
/// R is T (the common dtype), or bool for predicates. Members hold parameters.
template <class Op> inline PointwiseSlot pointwise_slot{Op::name};

namespace detail {
template <class T, size_t> using repeat_t = T;
template <class Op, class T, size_t... I>
auto pointwise_result(std::index_sequence<I...>)
    -> std::decay_t<decltype(std::declval<const Op&>()(std::declval<repeat_t<T, I>>()...))>;
}  // namespace detail

/// What Op's formula returns for operands of type T.
template <class Op, class T>
using pointwise_result_t =
    decltype(detail::pointwise_result<Op, T>(std::make_index_sequence<Op::arity>()));

/// A backend's registration of a closed list of functors: `fill.template operator()<Op>()` for each.
template <class... Op> struct OpList {
  template <class F> static void for_each(F&& f) { (f.template operator()<Op>(), ...); }
};

}  // namespace taeda
