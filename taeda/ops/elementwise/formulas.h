// The in-place form of an operation that is one formula of kernels/pointwise: what the tag
// `in-place: Formula` becomes. Not part of the public interface.
#pragma once

#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/compare.h"
#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/elementwise/elementwise.h"

namespace taeda::inline v0_2::detail {

/// `op` of `inputs`, of which `self` is the first, written to `self`; by `compute(self)` if a
/// gradient must be recorded. An answer (eq_, lt_) has the gradient zero, recorded as `node`.
template <class Op, class Compute>
Tensor& pointwise_in_place(const Op& op, const char* name, const char* node, const Tensor& self,
                           ArrayRef<Operand> inputs, Compute&& compute) {
  if constexpr (requires { Op::not_for_bool; })
    TAEDA_CHECK(self.dtype() != kBool, Op::not_for_bool);
  if constexpr (requires { Op::keeps_integers; })
    if (is_integral(self.dtype())) return const_cast<Tensor&>(self);
  const auto write = [&] {
    Tensor out = self;
    run_pointwise(pointwise_call(op), out, inputs);
  };
  if constexpr (is_predicate<Op>) {
    return in_place_recorded(name, node, self, {self}, write,
                             [] { return [](const Tensor& g) { return detail::zeros_like(g); }; });
  } else {
    bool recorded = wants_grad(self);
    for (const Operand& o : inputs) recorded = recorded || (o.tensor() && wants_grad(*o.tensor()));
    return in_place(name, self, recorded, compute, write);
  }
}

}  // namespace taeda::detail
