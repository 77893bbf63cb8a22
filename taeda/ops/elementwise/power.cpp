// Powers and the two-argument functions of geometry.
#include "bodies/arithmetic.h"
#include "taeda/kernels/pointwise/arithmetic.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/unary.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"

namespace taeda::inline v0_2 {

using detail::conjugate;

namespace {

void check_exponent(const Tensor& base, const Scalar& exponent) {
  const bool integral = is_integral(base.dtype(), true);
  if (!integral && !is_reduced_floating(base.dtype())) return;
  TAEDA_CHECK(!(integral && exponent.is_integral(true) && exponent.toLong() < 0),
              "Integers to negative integer powers are not allowed.");
  const ScalarType t = result_type({base, exponent});
  if (!is_differentiable(t) || is_reduced_floating(t)) detail::check_number(t, exponent);
}

/// Calls `run` with the formula of an exponent: most common ones need no logarithm. `run(op)` for a
/// formula of the base alone, `run(op, exponent)` for the general one.
template <class Run>
void with_formula(const Tensor& self, const Scalar& exponent, Run&& run) {
  if ((is_floating_point(self.dtype()) || self.is_complex()) && !exponent.is_complex()) {
    if (exponent.equal(2)) return run(Square{});
    if (exponent.equal(3) && !self.is_complex()) return run(Cube{});
    if (exponent.equal(0.5)) return run(Sqrt{});
    if (exponent.equal(-0.5)) return run(Rsqrt{});
    if (exponent.equal(-1)) return run(Reciprocal{});
  }
  run(Pow{}, exponent);
}

Tensor power(const Tensor& self, const Scalar& exponent) {
  check_exponent(self, exponent);
  if (self.dtype() == kBool && exponent.is_boolean())
    return exponent.toBool() ? self.clone() : ones_like(self);
  Tensor out;
  with_formula(self, exponent, [&](const auto& op, const auto&... rest) {
    out = pointwise_as("pow", op, self, rest...);
  });
  return out;
}

Tensor zero_where(const Tensor& condition, const Tensor& value) {
  return where(condition, Scalar(0), value);
}

/// d(self^exponent)/d self: 0 where the exponent is 0, even at self = 0, and where the power is,
/// even if the exponent is infinite.
Tensor base_gradient(const Tensor& g, const Tensor& self, const Tensor& exponent) {
  const Tensor power = self.pow(exponent.sub(1)), slope = exponent.mul(power);
  return zero_where(exponent.eq(0).logical_or(power.eq(0)), g.mul(conjugate(slope)));
}

/// d(self^exponent)/d exponent: 0 where the result is, or self is 0 and the exponent not negative.
Tensor exponent_gradient(const Tensor& g, const Tensor& self, const Tensor& exponent,
                         const Tensor& result) {
  const Tensor flat = self.eq(0).logical_and(real(exponent).ge(0)).logical_or(result.eq(0));
  const Tensor base = result.is_complex() ? self.to(result.dtype()) : self;
  return zero_where(flat, g.mul(conjugate(result.mul(base.log()))));
}

Scalar one_less(const Scalar& exponent) {
  if (exponent.is_complex()) return Scalar(exponent.to<std::complex<double>>() - 1.0);
  return exponent.is_integral(true) ? Scalar(exponent.toLong() - 1)
                                    : Scalar(exponent.toDouble() - 1);
}

/// side / distance; at the origin, which has no direction, and infinitely far from it 0.
Tensor unit_share(const Tensor& side, const Tensor& distance) {
  return side.div(distance).masked_fill(distance.eq(0).logical_or(distance.isinf()), 0);
}

/// Its logarithm as powers of dtype `result` took it.
Scalar log_of(const Scalar& base, const Tensor& result) {
  if (!result.is_complex()) return std::log(base.toDouble());
  return Scalar(std::log(base.to<std::complex<double>>()));
}

}  // namespace

Tensor do_pow(const Tensor& self, const Scalar& exponent) {
  if (!self.is_strided()) [[unlikely]]
    return detail::on_values_if_zero(self,
                                     [&](const Tensor& values) { return values.pow(exponent); });
  Tensor out = power(self, exponent);
  if (wants_grad(self))
    record("PowBackward0", out, {self}, [exponent, x = save_tensor(self)](const Tensor& g) {
      if (exponent.equal(0)) return detail::zeros_like(g);
      const Scalar lower = one_less(exponent);
      return lower.equal(1) ? g.mul(conjugate(x.unpack())).mul(exponent)
                            : g.mul(conjugate(x.unpack().pow(lower).mul(exponent)));
    });
  return out;
}

Tensor do_pow(const Tensor& self, const Tensor& exponent) {
  Tensor out = pointwise(Pow{}, self, exponent);
  if (wants_grad(self, exponent))
    record("PowBackward1", out, {self, exponent},
           [x = save_tensor(self), e = save_tensor(exponent, "exponent"),
            y = exponent.requires_grad() ? save_output(out) : autograd::Saved()](const Tensor& g,
                                                                                 Needs needs) {
             return TensorVec{
                 needs[0] ? base_gradient(g, x.unpack(), e.unpack()) : Tensor(),
                 needs[1] ? exponent_gradient(g, x.unpack(), e.unpack(), y.unpack()) : Tensor()};
           });
  return out;
}

Tensor do_pow(const Scalar& self, const Tensor& exponent) {
  Tensor out = pointwise(Pow{}, self, exponent);
  if (wants_grad(exponent))
    record("PowBackward1", out, {exponent},
           [self, e = save_tensor(exponent, "exponent"), y = save_output(out)](const Tensor& g) {
             const Tensor result = y.unpack();
             const Tensor gradient = g.mul(conjugate(result.mul(log_of(self, result))));
             return self.equal(0) ? zero_where(real(e.unpack()).ge(0), gradient) : gradient;
           });
  return out;
}

Tensor do_atan2(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(Atan2{}, self, other);
  if (wants_grad(self, other))
    record(
        "Atan2Backward0", out, {self, other},
        [y = save_tensor(self), x = save_tensor(other, "other")](const Tensor& g, Needs needs) {
          // Squares would leave the range of numbers long before the distance does.
          const Tensor a = y.unpack(), b = x.unpack(), distance = a.hypot(b);
          const auto share = [&](const Tensor& side) {
            return g.mul(unit_share(side, distance).div(distance.masked_fill(distance.eq(0), 1)));
          };
          return TensorVec{needs[0] ? share(b) : Tensor(), needs[1] ? share(a).neg() : Tensor()};
        });
  return out;
}

Tensor do_hypot(const Tensor& self, const Tensor& other) {
  Tensor out = pointwise(Hypot{}, self, other);
  if (wants_grad(self, other))
    record("HypotBackward0", out, {self, other},
           [a = save_tensor(self), b = save_tensor(other, "other"), y = save_output(out)](
               const Tensor& g, Needs needs) {
             const Tensor distance = y.unpack();
             return TensorVec{needs[0] ? g.mul(unit_share(a.unpack(), distance)) : Tensor(),
                              needs[1] ? g.mul(unit_share(b.unpack(), distance)) : Tensor()};
           });
  return out;
}

Tensor& do_pow_(const Tensor& self, const Tensor& exponent) {
  return detail::in_place(
      "pow_", self, wants_grad(self, exponent),
      [&](const Tensor& self) { return self.pow(exponent); },
      [&] { pointwise_into(Pow{}, self, self, exponent); });
}

Tensor& do_pow_(const Tensor& self, const Scalar& exponent) {
  check_exponent(self, exponent);
  return detail::in_place(
      "pow_", self, wants_grad(self), [&](const Tensor& self) { return self.pow(exponent); },
      [&] {
        with_formula(self, exponent, [&](const auto& op, const auto&... rest) {
          pointwise_into(op, self, self, rest...);
        });
      });
}

}  // namespace taeda::inline v0_2
