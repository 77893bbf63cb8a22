// Larger and smaller, interpolation, fused multiplications.
#include "bodies/arithmetic.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"

namespace taeda::inline v0_2 {

using detail::conjugate;
using detail::in_place;

namespace {

/// The part of the gradient that goes to `a` in maximum(a, b): 1, for equal ones 1/2, else 0.
Tensor maximum_share(const Tensor& a, const Tensor& b) { return pointwise(MaximumShare{}, a, b); }

}  // namespace

Tensor do_maximum(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(Maximum{}, self, other);
  if (wants_grad(self, other))
    record("MaximumBackward0", out, {self, other},
           [a = save_tensor(self), b = save_tensor(other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(maximum_share(a.unpack(), b.unpack())) : Tensor(),
                              needs[1] ? g.mul(maximum_share(b.unpack(), a.unpack())) : Tensor()};
           });
  return out;
}

Tensor do_minimum(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(Minimum{}, self, other);
  if (wants_grad(self, other))
    record("MinimumBackward0", out, {self, other},
           [a = save_tensor(self), b = save_tensor(other, "other")](const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(maximum_share(b.unpack(), a.unpack())) : Tensor(),
                              needs[1] ? g.mul(maximum_share(a.unpack(), b.unpack())) : Tensor()};
           });
  return out;
}

namespace {

void check_lerp_dtype(const char* what, const Tensor& start, const Tensor& t) {
  TAEDA_CHECK(t.dtype() == start.dtype(), "expected dtype ", detail::type_name(start.dtype()),
              " for `", what, "` but got dtype ", detail::type_name(t.dtype()));
}

}  // namespace

namespace {

/// A weight as a number of the kind that the ends are: real beside real ones, without which the
/// result would have another dtype than they.
Scalar weight_beside(const Tensor& start, const Scalar& weight) {
  if (is_differentiable(start.dtype()))
    detail::check_number(computing_dtype(start.dtype()), weight);
  if (!weight.is_complex() || start.is_complex()) return weight;
  return start.dtype() == kDouble ? weight.toDouble() : weight.toFloat();
}

}  // namespace

Tensor do_lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  check_lerp_dtype("end", start, end);
  if (weight.dim() > 0) check_lerp_dtype("weight", start, weight);
  Tensor out = pointwise(Lerp{}, start, end, weight);
  if (wants_grad(start, end, weight))
    record("LerpBackward1", out, {start, end, weight},
           [a = save_if(weight.requires_grad(), start, "start"),
            b = save_if(weight.requires_grad(), end, "end"),
            w = save_if(start.requires_grad() || end.requires_grad(), weight, "weight")](
               const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(rsub(conjugate(w.unpack()), 1)) : Tensor(),
                              needs[1] ? g.mul(conjugate(w.unpack())) : Tensor(),
                              needs[2] ? g.mul(conjugate(b.unpack().sub(a.unpack()))) : Tensor()};
           });
  return out;
}

Tensor do_lerp(const Tensor& start, const Tensor& end, const Scalar& number) {
  check_lerp_dtype("end", start, end);
  const Scalar weight = weight_beside(start, number);
  Tensor out = pointwise(Lerp{}, start, end, weight);
  if (wants_grad(start, end))
    record("LerpBackward0", out, {start, end},
           [w = conjugate(weight)](const Tensor& g, Needs needs) {
             const Scalar rest = w.is_complex() ? Scalar(1.0 - w.to<std::complex<double>>())
                                                : Scalar(1 - w.toDouble());
             return TensorVec{needs[0] ? g.mul(rest) : Tensor(), needs[1] ? g.mul(w) : Tensor()};
           });
  return out;
}

Tensor do_addcmul(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value) {
  Tensor out = pointwise(Addcmul{value}, self, t1, t2);
  if (wants_grad(self, t1, t2))
    record("AddcmulBackward0", out, {self, t1, t2},
           [value, a = save_if(t2.requires_grad(), t1, "t1"),
            b = save_if(t1.requires_grad(), t2, "t2")](const Tensor& g, Needs needs) {
             const Tensor scaled = value.equal(1) ? g : g.mul(conjugate(value));
             return TensorVec{g, needs[1] ? scaled.mul(conjugate(b.unpack())) : Tensor(),
                              needs[2] ? scaled.mul(conjugate(a.unpack())) : Tensor()};
           });
  return out;
}

namespace {

void check_addcdiv(const Tensor& t1, const Tensor& t2) {
  TAEDA_CHECK(!(is_integral(t1.dtype(), true) && is_integral(t2.dtype(), true)),
              "Integer division with addcdiv is no longer supported, and in a future  release "
              "addcdiv will perform a "
              "true division of tensor1 and tensor2.");
}

}  // namespace

Tensor do_addcdiv(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value) {
  check_addcdiv(t1, t2);
  Tensor out = pointwise(Addcdiv{value}, self, t1, t2);
  if (wants_grad(self, t1, t2))
    record("AddcdivBackward0", out, {self, t1, t2},
           [value, a = save_if(t2.requires_grad(), t1, "t1"),
            b = save_if(t1.requires_grad() || t2.requires_grad(), t2, "t2")](const Tensor& g,
                                                                             Needs needs) {
             if (!needs[1] && !needs[2]) return TensorVec{g, Tensor(), Tensor()};
             const Tensor divisor = conjugate(b.unpack());
             const Tensor first = g.mul(conjugate(value)).div(divisor);
             return TensorVec{
                 g, needs[1] ? first : Tensor(),
                 needs[2] ? first.mul(conjugate(a.unpack()).div(divisor)).neg() : Tensor()};
           });
  return out;
}

Tensor& do_lerp_(const Tensor& self, const Tensor& end, const Scalar& number) {
  check_lerp_dtype("end", self, end);
  const Scalar weight = weight_beside(self, number);
  return in_place(
      "lerp_", self, wants_grad(self, end),
      [&](const Tensor& self) { return self.lerp(end, weight); },
      [&] { pointwise_into(Lerp{}, self, self, end, weight); });
}

Tensor& do_addcmul_(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value) {
  return in_place(
      "addcmul_", self, wants_grad(self, t1, t2),
      [&](const Tensor& self) { return self.addcmul(t1, t2, value); },
      [&] { pointwise_into(Addcmul{value}, self, self, t1, t2); });
}

Tensor& do_addcdiv_(const Tensor& self, const Tensor& t1, const Tensor& t2, const Scalar& value) {
  check_addcdiv(t1, t2);
  return in_place(
      "addcdiv_", self, wants_grad(self, t1, t2),
      [&](const Tensor& self) { return self.addcdiv(t1, t2, value); },
      [&] { pointwise_into(Addcdiv{value}, self, self, t1, t2); });
}

}  // namespace taeda::inline v0_2
