// From a functor to an operation: promotion, broadcasting, allocation and the kernel slot.
#pragma once

#include "taeda/kernels/pointwise.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

namespace detail {

struct PointwiseCall {
  const char* name;
  const char* operation;  ///< whose result it is: Note [Destinations] in ops/destination.h
  PointwiseSlot* slot;
  FunctorBytes functor;
  bool to_float;
  bool predicate;
  int masks;
  ScalarType (*result_dtype)(ScalarType common);
  void (*make_complex)(PointwiseCall&);  ///< gives it the functor of complex numbers; may be null
};

template <class Op>
concept HasComplexForm = requires {
  Op::complex_form;
};

template <class Op>
void make_complex(PointwiseCall& call) {
  using Form = std::decay_t<decltype(Op::complex_form)>;
  call.slot = &pointwise_slot<Form>;
  call.functor = FunctorBytes::from(Op::complex_form);
}

template <class Op>
PointwiseCall pointwise_call(const Op& op) {
  PointwiseCall call{Op::name,
                     Op::name,
                     &pointwise_slot<Op>,
                     FunctorBytes::from(op),
                     false,
                     is_predicate<Op>,
                     static_cast<int>(mask_count<Op>),
                     nullptr,
                     nullptr};
  if constexpr (requires { Op::promotes_to_float; }) call.to_float = Op::promotes_to_float;
  if constexpr (requires { &Op::result_dtype; }) call.result_dtype = &Op::result_dtype;
  if constexpr (HasComplexForm<Op>) call.make_complex = &make_complex<Op>;
  return call;
}

void run_pointwise(const PointwiseCall& call, Tensor& out, ArrayRef<Operand> inputs);

}  // namespace detail

/// Op over tensors and numbers, broadcast against each other and promoted to one dtype as PyTorch
/// does; records no gradient.
template <class Op, class... Args>
Tensor pointwise(const Op& op, const Args&... inputs) {
  static_assert(sizeof...(Args) == Op::arity);
  Tensor out;
  detail::run_pointwise(detail::pointwise_call(op), out, {Operand(inputs)...});
  return out;
}

/// The same as the result of an operation that is named otherwise than the formula: its forms in
/// place and with `out` have the kernel write into their tensor.
template <class Op, class... Args>
Tensor pointwise_as(const char* operation, const Op& op, const Args&... inputs) {
  static_assert(sizeof...(Args) == Op::arity);
  Tensor out;
  detail::PointwiseCall call = detail::pointwise_call(op);
  call.operation = operation;
  detail::run_pointwise(call, out, {Operand(inputs)...});
  return out;
}

/// The same into `out`, whose shape must be the broadcast shape. A result that cannot be cast to
/// `out`'s dtype is an Error: "result type Float can't be cast to the desired output type Long".
template <class Op, class... Args>
void pointwise_into(const Op& op, const Tensor& out, const Args&... inputs) {
  static_assert(sizeof...(Args) == Op::arity);
  Tensor target = out;
  detail::run_pointwise(detail::pointwise_call(op), target, {Operand(inputs)...});
}

/// Throws NotImplementedError ("<op>" not implemented for 'Long') unless `t` is of a floating
/// dtype.
void check_floating(const char* op, const Tensor& t);

}  // namespace taeda::inline v0_2
