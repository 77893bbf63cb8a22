#include "taeda/ops/arithmetic.h"

#include "taeda/autograd/record.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/ops/pointwise.h"

namespace taeda {

namespace {

/// Gradients are conjugated factors; real ones are their own conjugates.
Tensor conjugate(const Tensor& t) { return t.is_complex() ? t.conj() : t; }

void check_alpha(const char* op, ScalarType result, const Scalar& alpha) {
  TAEDA_CHECK(!alpha.is_boolean() || result == kBool, "Boolean alpha only supported for Boolean results.");
  TAEDA_CHECK(is_floating_point(result) || is_complex(result) || alpha.is_integral(true),
              "For integral input tensors, argument alpha must not be a floating point number. (in ", op, ")");
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!alpha.is_integral()) check_alpha("add", result_type({Operand(self), Operand(other)}), alpha);
  Tensor out = pointwise(Add{alpha}, self, other);
  if (wants_grad(self, other))
    record("AddBackward0", out, {self, other}, [alpha](const Tensor& g, Needs needs) {
      return TensorVec{g, !needs[1] || alpha.equal(1) ? g : g.mul(alpha)};
    });
  return out;
}

Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  Tensor out = pointwise(Add{alpha}, self, other);
  if (wants_grad(self)) record("AddBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

Tensor mul(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(Mul{}, self, other);
  if (wants_grad(self, other))
    record("MulBackward0", out, {self, other},
           [a = save(other.requires_grad() ? self : Tensor()), b = save(self.requires_grad() ? other : Tensor())](
               const Tensor& g, Needs needs) {
             return TensorVec{needs[0] ? g.mul(conjugate(b.unpack())) : Tensor(),
                              needs[1] ? g.mul(conjugate(a.unpack())) : Tensor()};
           });
  return out;
}

Tensor mul(const Tensor& self, const Scalar& other) {
  Tensor out = pointwise(Mul{}, self, other);
  if (wants_grad(self))
    record("MulBackward0", out, {self}, [other](const Tensor& g) { return g.mul(other); });
  return out;
}

Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return taeda::add(*this, other, alpha); }
Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const { return taeda::add(*this, other, alpha); }
Tensor Tensor::mul(const Tensor& other) const { return taeda::mul(*this, other); }
Tensor Tensor::mul(const Scalar& other) const { return taeda::mul(*this, other); }

Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  check_inplace("add_", *this);
  if (wants_grad(*this, other)) {
    autograd::assign_inplace("add_", *this, [&](const Tensor& self) { return self.add(other, alpha); });
  } else {
    pointwise_into(Add{alpha}, *this, *this, other);
    bump_version(*this);
  }
  return const_cast<Tensor&>(*this);
}

}  // namespace taeda
