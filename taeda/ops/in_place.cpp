// In-place forms of operations that are defined elsewhere.
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/compare.h"
#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/elementwise.h"
#include "taeda/ops/matmul.h"

namespace taeda {

using detail::assign;

namespace {

using Compute = std::function<Tensor(const Tensor&)>;

/// `self` with `call` applied to `inputs`, of which `self` is the first; through `compute` if a
/// gradient must be recorded.
Tensor& change(const char* name, const Tensor& self, const detail::PointwiseCall& call,
               ArrayRef<Operand> inputs, const Compute& compute) {
  bool recorded = wants_grad(self);
  for (const Operand& o : inputs) recorded = recorded || (o.tensor() && wants_grad(*o.tensor()));
  return detail::in_place(name, self, recorded, compute, [&] {
    Tensor out = self;
    detail::run_pointwise(call, out, inputs);
  });
}

template <class Op>
Tensor& change_unary(const char* name, const Op& op, const Tensor& self,
                     Tensor (Tensor::*compute)() const) {
  return change(name, self, detail::pointwise_call(op), {self},
                [compute](const Tensor& t) { return (t.*compute)(); });
}

/// An answer without a gradient takes the place of `self`.
template <class Op>
Tensor& replace(const char* name, const char* node, const Op& op, const Tensor& self,
                const Operand& a, const Operand& b) {
  return detail::in_place_recorded(
      name, node, self, {self},
      [&] {
        Tensor out = self;
        detail::run_pointwise(detail::pointwise_call(op), out, {a, b});
      },
      [] { return [](const Tensor& g) { return detail::zeros_like(g); }; });
}

Tensor as_bool(const Tensor& t) { return t.dtype() == kBool ? t : t.detach().to(kBool); }

template <class Op>
Tensor& replace_logic(const char* name, const char* node, const Op& op, const Tensor& self,
                      const Tensor& other) {
  const Tensor a = as_bool(self), b = as_bool(other);
  return replace(name, node, op, self, a, b);
}

}  // namespace

Tensor& detail::assign(const char* name, const Tensor& self, bool recorded,
                       const std::function<Tensor(const Tensor&)>& compute) {
  check_inplace(name, self, recorded);
  const auto on_device = [&](const Tensor& before) {
    Tensor result = compute(before);
    check_same_device(name, {&result, &self});
    return result;
  };
  if (recorded) {
    autograd::assign_inplace(name, self, on_device);
  } else {
    NoGradGuard guard;
    const Tensor result = on_device(self);
    TAEDA_CHECK(result.sizes() == self.sizes(), "output with shape ", self.sizes(),
                " doesn't match the broadcast shape ", result.sizes());
    TAEDA_CHECK(can_cast(result.dtype(), self.dtype()), "result type ", to_string(result.dtype()),
                " can't be cast to the desired output type ", to_string(self.dtype()));
    self.copy_(result);
  }
  return const_cast<Tensor&>(self);
}

// ---- arithmetic ----

Tensor& Tensor::floor_divide_(const Tensor& other) const {
  return assign("floor_divide_", *this, wants_grad(*this, other),
                [&](const Tensor& t) { return t.div(other, "floor"); });
}
Tensor& Tensor::floor_divide_(const Scalar& other) const {
  return assign("floor_divide_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.div(other, "floor"); });
}
Tensor& Tensor::remainder_(const Tensor& other) const {
  return assign("remainder_", *this, wants_grad(*this, other),
                [&](const Tensor& t) { return t.remainder(other); });
}
Tensor& Tensor::remainder_(const Scalar& other) const {
  return assign("remainder_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.remainder(other); });
}
Tensor& Tensor::fmod_(const Tensor& other) const {
  return assign("fmod_", *this, wants_grad(*this, other),
                [&](const Tensor& t) { return t.fmod(other); });
}
Tensor& Tensor::fmod_(const Scalar& other) const {
  return assign("fmod_", *this, wants_grad(*this), [&](const Tensor& t) { return t.fmod(other); });
}
Tensor& Tensor::atan2_(const Tensor& other) const {
  return change("atan2_", *this, detail::pointwise_call(Atan2{}), {*this, other},
                [&](const Tensor& t) { return t.atan2(other); });
}
Tensor& Tensor::hypot_(const Tensor& other) const {
  return change("hypot_", *this, detail::pointwise_call(Hypot{}), {*this, other},
                [&](const Tensor& t) { return t.hypot(other); });
}
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
  return assign("lerp_", *this, wants_grad(*this, end, weight),
                [&](const Tensor& t) { return t.lerp(end, weight); });
}

// ---- comparison and logic ----

Tensor& Tensor::eq_(const Tensor& o) const {
  return replace("eq_", "EqBackward0", Eq{}, *this, *this, o);
}
Tensor& Tensor::eq_(const Scalar& o) const {
  return replace("eq_", "EqBackward0", Eq{}, *this, *this, o);
}
Tensor& Tensor::ne_(const Tensor& o) const {
  return replace("ne_", "NeBackward0", Ne{}, *this, *this, o);
}
Tensor& Tensor::ne_(const Scalar& o) const {
  return replace("ne_", "NeBackward0", Ne{}, *this, *this, o);
}
Tensor& Tensor::lt_(const Tensor& o) const {
  return replace("lt_", "LtBackward0", Lt{}, *this, *this, o);
}
Tensor& Tensor::lt_(const Scalar& o) const {
  return replace("lt_", "LtBackward0", Lt{}, *this, *this, o);
}
Tensor& Tensor::le_(const Tensor& o) const {
  return replace("le_", "LeBackward0", Le{}, *this, *this, o);
}
Tensor& Tensor::le_(const Scalar& o) const {
  return replace("le_", "LeBackward0", Le{}, *this, *this, o);
}
Tensor& Tensor::gt_(const Tensor& o) const {
  return replace("gt_", "GtBackward0", Gt{}, *this, *this, o);
}
Tensor& Tensor::gt_(const Scalar& o) const {
  return replace("gt_", "GtBackward0", Gt{}, *this, *this, o);
}
Tensor& Tensor::ge_(const Tensor& o) const {
  return replace("ge_", "GeBackward0", Ge{}, *this, *this, o);
}
Tensor& Tensor::ge_(const Scalar& o) const {
  return replace("ge_", "GeBackward0", Ge{}, *this, *this, o);
}

Tensor& Tensor::logical_and_(const Tensor& other) const {
  return replace_logic("logical_and_", "LogicalAndBackward0", LogicalAnd{}, *this, other);
}
Tensor& Tensor::logical_or_(const Tensor& other) const {
  return replace_logic("logical_or_", "LogicalOrBackward0", LogicalOr{}, *this, other);
}
Tensor& Tensor::logical_xor_(const Tensor& other) const {
  return replace_logic("logical_xor_", "LogicalXorBackward0", LogicalXor{}, *this, other);
}
Tensor& Tensor::logical_not_() const { return eq_(0); }

Tensor& Tensor::bitwise_and_(const Tensor& o) const {
  return replace("bitwise_and_", "BitwiseAndBackward0", BitwiseAnd{}, *this, *this, o);
}
Tensor& Tensor::bitwise_and_(const Scalar& o) const {
  return replace("bitwise_and_", "BitwiseAndBackward0", BitwiseAnd{}, *this, *this, o);
}
Tensor& Tensor::bitwise_or_(const Tensor& o) const {
  return replace("bitwise_or_", "BitwiseOrBackward0", BitwiseOr{}, *this, *this, o);
}
Tensor& Tensor::bitwise_or_(const Scalar& o) const {
  return replace("bitwise_or_", "BitwiseOrBackward0", BitwiseOr{}, *this, *this, o);
}
Tensor& Tensor::bitwise_xor_(const Tensor& o) const {
  return replace("bitwise_xor_", "BitwiseXorBackward0", BitwiseXor{}, *this, *this, o);
}
Tensor& Tensor::bitwise_xor_(const Scalar& o) const {
  return replace("bitwise_xor_", "BitwiseXorBackward0", BitwiseXor{}, *this, *this, o);
}
Tensor& Tensor::bitwise_not_() const {
  return change_unary("bitwise_not_", BitwiseNot{}, *this, &Tensor::bitwise_not);
}

// ---- unary mathematics ----

Tensor& Tensor::sign_() const { return change_unary("sign_", Sign{}, *this, &Tensor::sign); }
Tensor& Tensor::exp2_() const { return change_unary("exp2_", Exp2{}, *this, &Tensor::exp2); }
Tensor& Tensor::expm1_() const { return change_unary("expm1_", Expm1{}, *this, &Tensor::expm1); }
Tensor& Tensor::log2_() const { return change_unary("log2_", Log2{}, *this, &Tensor::log2); }
Tensor& Tensor::log10_() const { return change_unary("log10_", Log10{}, *this, &Tensor::log10); }
Tensor& Tensor::log1p_() const { return change_unary("log1p_", Log1p{}, *this, &Tensor::log1p); }
Tensor& Tensor::tan_() const { return change_unary("tan_", Tan{}, *this, &Tensor::tan); }
Tensor& Tensor::asin_() const { return change_unary("asin_", Asin{}, *this, &Tensor::asin); }
Tensor& Tensor::acos_() const { return change_unary("acos_", Acos{}, *this, &Tensor::acos); }
Tensor& Tensor::atan_() const { return change_unary("atan_", Atan{}, *this, &Tensor::atan); }
Tensor& Tensor::sinh_() const { return change_unary("sinh_", Sinh{}, *this, &Tensor::sinh); }
Tensor& Tensor::cosh_() const { return change_unary("cosh_", Cosh{}, *this, &Tensor::cosh); }
Tensor& Tensor::erf_() const { return change_unary("erf_", Erf{}, *this, &Tensor::erf); }
Tensor& Tensor::erfc_() const { return change_unary("erfc_", Erfc{}, *this, &Tensor::erfc); }
Tensor& Tensor::frac_() const { return change_unary("frac_", Frac{}, *this, &Tensor::frac); }
Tensor& Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                            std::optional<double> neginf) const {
  return assign("nan_to_num_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.nan_to_num(nan, posinf, neginf); });
}

// ---- scans, triangles, products of matrices ----

Tensor& Tensor::cumsum_(int64_t dim, OptionalDtype dtype) const {
  return assign("cumsum_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.cumsum(dim, dtype.value_or(t.dtype())); });
}
Tensor& Tensor::cumprod_(int64_t dim, OptionalDtype dtype) const {
  return assign("cumprod_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.cumprod(dim, dtype.value_or(t.dtype())); });
}
Tensor& Tensor::tril_(int64_t diagonal) const {
  return assign("tril_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.tril(diagonal); });
}
Tensor& Tensor::triu_(int64_t diagonal) const {
  return assign("triu_", *this, wants_grad(*this),
                [&](const Tensor& t) { return t.triu(diagonal); });
}
Tensor& Tensor::addmv_(const Tensor& a, const Tensor& v, const Scalar& beta,
                       const Scalar& alpha) const {
  return assign("addmv_", *this, wants_grad(*this, a, v),
                [&](const Tensor& t) { return t.addmv(a, v, beta, alpha); });
}
Tensor& Tensor::baddbmm_(const Tensor& a, const Tensor& b, const Scalar& beta,
                         const Scalar& alpha) const {
  return assign("baddbmm_", *this, wants_grad(*this, a, b),
                [&](const Tensor& t) { return t.baddbmm(a, b, beta, alpha); });
}
Tensor& Tensor::addbmm_(const Tensor& a, const Tensor& b, const Scalar& beta,
                        const Scalar& alpha) const {
  return assign("addbmm_", *this, wants_grad(*this, a, b),
                [&](const Tensor& t) { return t.addbmm(a, b, beta, alpha); });
}
Tensor& Tensor::addr_(const Tensor& a, const Tensor& b, const Scalar& beta,
                      const Scalar& alpha) const {
  return assign("addr_", *this, wants_grad(*this, a, b),
                [&](const Tensor& t) { return t.addr(a, b, beta, alpha); });
}

}  // namespace taeda
