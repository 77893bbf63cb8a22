#include "taeda/ops/elementwise/compare.h"

#include "bodies/compare.h"
#include "taeda/base/warning.h"
#include "taeda/kernels/pointwise/compare.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/stored.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/tensor/mapped.h"

namespace taeda::inline v0_2 {

Tensor do_eq(const Tensor& self, const Tensor& other) {
  if (is_stored(self.dtype()) && self.dtype() == other.dtype()) [[unlikely]]
    return eq(detail::comparable(self), detail::comparable(other));
  return pointwise(Eq{}, self, other);
}
Tensor do_eq(const Tensor& self, const Scalar& other) {
  if (is_stored(self.dtype())) [[unlikely]]
    return eq(detail::comparable(self), other);
  return pointwise(Eq{}, self, other);
}
Tensor do_ne(const Tensor& self, const Tensor& other) {
  if (is_stored(self.dtype()) && self.dtype() == other.dtype()) [[unlikely]]
    return ne(detail::comparable(self), detail::comparable(other));
  return pointwise(Ne{}, self, other);
}
Tensor do_ne(const Tensor& self, const Scalar& other) {
  if (is_stored(self.dtype())) [[unlikely]]
    return ne(detail::comparable(self), other);
  return pointwise(Ne{}, self, other);
}
Tensor do_lt(const Tensor& self, const Tensor& other) { return pointwise(Lt{}, self, other); }
Tensor do_lt(const Tensor& self, const Scalar& other) { return pointwise(Lt{}, self, other); }
Tensor do_le(const Tensor& self, const Tensor& other) { return pointwise(Le{}, self, other); }
Tensor do_le(const Tensor& self, const Scalar& other) { return pointwise(Le{}, self, other); }
Tensor do_gt(const Tensor& self, const Tensor& other) { return pointwise(Gt{}, self, other); }
Tensor do_gt(const Tensor& self, const Scalar& other) { return pointwise(Gt{}, self, other); }
Tensor do_ge(const Tensor& self, const Tensor& other) { return pointwise(Ge{}, self, other); }
Tensor do_ge(const Tensor& self, const Scalar& other) { return pointwise(Ge{}, self, other); }

namespace {

Tensor truth(const Tensor& t) { return t.dtype() == kBool ? t : t.detach().to(kBool); }

}  // namespace

Tensor do_logical_and(const Tensor& self, const Tensor& other) {
  return pointwise(LogicalAnd{}, truth(self), truth(other));
}
Tensor do_logical_or(const Tensor& self, const Tensor& other) {
  return pointwise(LogicalOr{}, truth(self), truth(other));
}
Tensor do_logical_xor(const Tensor& self, const Tensor& other) {
  return pointwise(LogicalXor{}, truth(self), truth(other));
}
Tensor do_logical_not(const Tensor& self) {
  if (self.dtype() != kBool) return pointwise_as("logical_not", Eq{}, self.detach(), Scalar(0));
  return pointwise(LogicalNot{}, self);
}

Tensor do_bitwise_and(const Tensor& self, const Tensor& other) {
  return pointwise(BitwiseAnd{}, self, other);
}
Tensor do_bitwise_and(const Tensor& self, const Scalar& other) {
  return pointwise(BitwiseAnd{}, self, other);
}
Tensor do_bitwise_or(const Tensor& self, const Tensor& other) {
  return pointwise(BitwiseOr{}, self, other);
}
Tensor do_bitwise_or(const Tensor& self, const Scalar& other) {
  return pointwise(BitwiseOr{}, self, other);
}
Tensor do_bitwise_xor(const Tensor& self, const Tensor& other) {
  return pointwise(BitwiseXor{}, self, other);
}
Tensor do_bitwise_xor(const Tensor& self, const Scalar& other) {
  return pointwise(BitwiseXor{}, self, other);
}
Tensor do_bitwise_not(const Tensor& self) { return pointwise(BitwiseNot{}, self); }

namespace {

/// Op for floats; integers are all finite, so that the answer is the same everywhere.
template <class Op>
Tensor classify(const Op& op, const Tensor& self, bool answer_for_integers) {
  if (is_differentiable(self.dtype())) return pointwise(op, self);
  Tensor out = make_tensor(self.sizes(), kBool, self.device());
  out.fill_(answer_for_integers);
  return out;
}

}  // namespace

Tensor do_isnan(const Tensor& self) { return classify(IsNan{}, self, false); }
Tensor do_isinf(const Tensor& self) { return classify(IsInf{}, self, false); }
Tensor do_isfinite(const Tensor& self) { return classify(IsFinite{}, self, true); }

// ---- selection ----

namespace {

/// A condition of bytes, which older programs have, is one of bools.
Tensor checked_condition(const Tensor& condition) {
  if (condition.dtype() == kByte) {
    TAEDA_WARN_ONCE(
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed "
        "in a future version of PyTorch. Use a boolean condition instead.");
    return condition.to(kBool);
  }
  TAEDA_CHECK(condition.dtype() == kBool,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ",
              to_string(condition.dtype()));
  return condition;
}

/// The gradient of the branch that `condition` selects.
Tensor masked(const Tensor& condition, const Tensor& g) {
  if (Interceptors::has(Interceptors::kMap)) return where(condition, g, g.new_zeros({}));
  Tensor out = pointwise(Masked{}, condition, g);
  if (wants_grad(g))
    record("WhereBackward0", out, {g}, [c = save_tensor(condition, "condition")](const Tensor& gg) {
      return masked(c.unpack(), gg);
    });
  return out;
}

}  // namespace

Tensor do_where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  const Tensor chosen = checked_condition(condition);
  Tensor out = is_stored(self.dtype()) && self.dtype() == other.dtype()
                   ? detail::from_words(pointwise(Where{}, chosen, detail::as_words(self),
                                                  detail::as_words(other)),
                                        self.dtype())
                   : pointwise(Where{}, chosen, self, other);
  if (wants_grad(self, other))
    record("WhereBackward0", out, {self, other},
           [c = save_tensor(chosen, "condition")](const Tensor& g, Needs needs) {
             const Tensor condition = c.unpack();
             return TensorVec{needs[0] ? masked(condition, g) : Tensor(),
                              needs[1] ? masked(logical_not(condition), g) : Tensor()};
           });
  return out;
}

namespace {

/// A choice between tensors and numbers, which must be some of the common dtype. Those beyond the
/// 16-bit floats become infinite.
Tensor choose(const Tensor& condition, const Operand& self, const Operand& other) {
  const ScalarType t = result_type({self, other});
  for (const Operand* o : {&self, &other})
    if (!o->tensor() && !is_reduced_floating(t)) detail::check_number(t, o->scalar());
  if (!is_stored(t)) return pointwise(Where{}, condition, self, other);
  const auto as_tensor = [&](const Operand& o) {
    return o.tensor() ? o.tensor()->to(t)
                      : full({}, o.scalar(), TensorOptions(t).device(condition.device()));
  };
  return where(condition, as_tensor(self), as_tensor(other));
}

}  // namespace

Tensor do_where(const Tensor& condition, const Scalar& self, const Tensor& other) {
  const Tensor chosen = checked_condition(condition);
  Tensor out = choose(chosen, self, other);
  if (wants_grad(other))
    record("WhereBackward0", out, {other}, [c = save_tensor(chosen, "condition")](const Tensor& g) {
      return masked(logical_not(c.unpack()), g);
    });
  return out;
}

Tensor do_where(const Tensor& condition, const Tensor& self, const Scalar& other) {
  const Tensor chosen = checked_condition(condition);
  Tensor out = choose(chosen, self, other);
  if (wants_grad(self))
    record("WhereBackward0", out, {self}, [c = save_tensor(chosen, "condition")](const Tensor& g) {
      return masked(c.unpack(), g);
    });
  return out;
}

Tensor do_where(const Tensor& condition, const Scalar& self, const Scalar& other) {
  return choose(checked_condition(condition), self, other);
}

// ---- equality of whole tensors ----

bool do_equal(const Tensor& self, const Tensor& other) {
  if (self.sizes() != other.sizes()) return false;
  return eq(self, other).all().item<bool>();
}

namespace {

/// By operations, each of which rounds to the tensors' type as PyTorch's do: the kernel computes
/// 16-bit floats in float, and no complex numbers.
Tensor composed_isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
                        bool equal_nan) {
  const NoGradGuard guard;
  const Tensor error = self.sub(other).abs();
  const Tensor near = error.le(other.mul(rtol).abs().add(atol)).logical_and(isfinite(error));
  const Tensor close = self.eq(other).logical_or(near);
  return equal_nan ? close.logical_or(isnan(self).logical_and(isnan(other))) : close;
}

}  // namespace

Tensor do_isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
                  bool equal_nan) {
  TAEDA_CHECK(self.dtype() == other.dtype(), to_string(self.dtype()), " did not match ",
              to_string(other.dtype()));
  TAEDA_CHECK(rtol >= 0, "rtol must be greater than or equal to zero, but got ", rtol);
  TAEDA_CHECK(atol >= 0, "atol must be greater than or equal to zero, but got ", atol);
  const bool integral = is_integral(self.dtype(), true);
  if (integral && rtol == 0 && atol == 0) return eq(self, other);
  if (integral || is_float8(self.dtype())) {
    const ScalarType floating = integral ? get_default_dtype() : kFloat;
    return isclose(self.to(floating), other.to(floating), rtol, atol, equal_nan);
  }
  if (self.is_complex() || is_reduced_floating(self.dtype()))
    return composed_isclose(self, other, rtol, atol, equal_nan);
  return pointwise(IsClose{rtol, atol, equal_nan}, self, other);
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  TAEDA_CHECK(!is_mapped(self) && !is_mapped(other),
              "vmap over torch.allclose isn't supported yet.");
  return isclose(self, other, rtol, atol, equal_nan).all().item<bool>();
}

bool Tensor::is_nonzero() const {
  if (is_mapped(*this)) refuse_control_flow();
  TAEDA_CHECK(numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TAEDA_CHECK(numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return reshape({}).to(kBool).item<bool>();
}

// ---- in place ----

namespace {

/// The answer about two tensors takes the place of the first.
template <class Op>
Tensor& replace_by_truth(const char* name, const char* node, const Op& op, const Tensor& self,
                         const Tensor& other) {
  const Tensor a = truth(self), b = truth(other);
  return detail::in_place_recorded(
      name, node, self, {self}, [&] { pointwise_into(op, self, a, b); },
      [] { return [](const Tensor& g) { return detail::zeros_like(g); }; });
}

}  // namespace

Tensor& do_logical_and_(const Tensor& self, const Tensor& other) {
  return replace_by_truth("logical_and_", "LogicalAndBackward0", LogicalAnd{}, self, other);
}
Tensor& do_logical_or_(const Tensor& self, const Tensor& other) {
  return replace_by_truth("logical_or_", "LogicalOrBackward0", LogicalOr{}, self, other);
}
Tensor& do_logical_xor_(const Tensor& self, const Tensor& other) {
  return replace_by_truth("logical_xor_", "LogicalXorBackward0", LogicalXor{}, self, other);
}
Tensor& do_logical_not_(const Tensor& self) { return self.eq_(0); }

}  // namespace taeda::inline v0_2
