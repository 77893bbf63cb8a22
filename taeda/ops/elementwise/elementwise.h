// Shared by the sources of elementwise operations (arithmetic, compare, unary, activation); not
// part of the public interface.
#pragma once

#include "taeda/autograd/record.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/sparse/sparse_common.h"

namespace taeda::inline v0_2::detail {

/// Gradients are multiplied with conjugated factors; real ones are their own conjugates.
inline Tensor conjugate(const Tensor& t) { return t.is_complex() ? t.conj() : t; }
inline Scalar conjugate(const Scalar& s) {
  return s.is_complex() ? Scalar(std::conj(s.to<std::complex<double>>())) : s;
}

/// g times the conjugate of alpha, without a multiplication by one.
inline Tensor scaled(const Tensor& g, const Scalar& alpha) {
  return alpha.equal(1) ? g : g.mul(conjugate(alpha));
}

inline Tensor zeros_like(const Tensor& t) {
  NoGradGuard guard;
  Tensor out = make_tensor(t.sizes(), t.dtype(), t.device());
  out.zero_();
  return out;
}

/// A gradient by a formula of x or of y, which is g f'(t): of complex numbers it is g conj(f'(t))
/// (Hjorungnes and Gesbert, "Complex-Valued Matrix Differentiation", 2007).
using GradientFormula = Tensor (*)(const Tensor& g, const Tensor& t);
/// `has_complex_form`: whether the operation computes complex numbers as such.
Tensor gradient_by(GradientFormula gradient, bool has_complex_form, const Tensor& g,
                   const Tensor& t);

/// What the formula reads, besides the gradient of the result; a step function's gradient is zero.
enum class Reads { Input, Output, Nothing };
Tensor differentiable(const char* node, const PointwiseCall& call, const Tensor& x, Reads reads,
                      GradientFormula gradient);

/// y = op(x), whose gradient is `gradient(g, x)`.
template <class Op>
Tensor differentiable_in_input(const char* node, const Op& op, const Tensor& x,
                               GradientFormula gradient) {
  return differentiable(node, pointwise_call(op), x, Reads::Input, gradient);
}

/// y = op(x), whose gradient is `gradient(g, y)`.
template <class Op>
Tensor differentiable_in_output(const char* node, const Op& op, const Tensor& x,
                                GradientFormula gradient) {
  return differentiable(node, pointwise_call(op), x, Reads::Output, gradient);
}

/// y = op(x), a step function: its gradient is zero.
template <class Op>
Tensor step_function(const char* node, const Op& op, const Tensor& x) {
  return differentiable(node, pointwise_call(op), x, Reads::Nothing, nullptr);
}

/// The in-place form of an operation: `compute(self)` as in `assign` if it must be recorded,
/// `write()` into `self` if not.
template <class Compute, class Write>
Tensor& in_place(const char* name, const Tensor& self, bool recorded, Compute&& compute,
                 Write&& write) {
  if (!self.is_strided()) [[unlikely]]
    return assign(name, self, recorded, compute);
  check_inplace(name, self, recorded);
  if (recorded) {
    assign_recorded(name, self, compute);
  } else {
    write();
    bump_version(self);
  }
  return const_cast<Tensor&>(self);
}

/// In-place form whose gradient needs no earlier value of `self`: `gradient()` makes the closure
/// after the change, so that it may save `self` as the output.
template <class Write, class Gradient>
Tensor& in_place_recorded(const char* name, const char* node, const Tensor& self,
                          ArrayRef<autograd::Input> inputs, Write&& write, Gradient&& gradient) {
  InplaceChange change(name, self, inputs);
  write();
  change.finish(node, gradient);
  return const_cast<Tensor&>(self);
}

}  // namespace taeda::inline v0_2::detail
