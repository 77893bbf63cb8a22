#include "taeda/ops/elementwise/unary.h"

#include <numbers>

#include "bodies/unary.h"
#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

using detail::conjugate;
using detail::differentiable_in_input;
using detail::differentiable_in_output;
using detail::pointwise_call;
using detail::PointwiseCall;
using detail::step_function;

namespace {

constexpr double kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;
constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;

/// x / |x|, and 0 at 0.
Tensor unit(const Tensor& x) {
  if (!x.is_complex()) return x.sign();
  const Tensor size = x.abs();
  return x.div(size.add(size.eq(0).to(size.dtype())));
}

Tensor tanh_slope(const Tensor& g, const Tensor& y) {
  return y.is_complex() ? g.mul(rsub(y.square(), 1)) : tanh_backward(g, y);
}
Tensor sigmoid_slope(const Tensor& g, const Tensor& y) {
  return y.is_complex() ? g.mul(y).mul(rsub(y, 1)) : sigmoid_backward(g, y);
}

}  // namespace

Tensor do_abs(const Tensor& self) {
  return differentiable_in_input("AbsBackward0", Abs{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(unit(x)); });
}

Tensor do_log(const Tensor& self) {
  return differentiable_in_input("LogBackward0", Log{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.div(x); });
}

Tensor do_log2(const Tensor& self) {
  return differentiable_in_input(
      "Log2Backward0", Log2{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.mul(kLn2)); });
}

Tensor do_log10(const Tensor& self) {
  return differentiable_in_input(
      "Log10Backward0", Log10{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.mul(kLn10)); });
}

Tensor do_log1p(const Tensor& self) {
  return differentiable_in_input("Log1pBackward0", Log1p{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.div(x.add(1)); });
}

Tensor do_square(const Tensor& self) {
  if (self.dtype() == kBool) return square(self.to(kLong));
  return differentiable_in_input(
      "SquareBackward0", Square{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(conjugate(x)).mul(2); });
}

Tensor do_sin(const Tensor& self) {
  return differentiable_in_input("SinBackward0", Sin{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.cos()); });
}

Tensor do_cos(const Tensor& self) {
  return differentiable_in_input("CosBackward0", Cos{}, self, [](const Tensor& g, const Tensor& x) {
    return g.mul(x.sin()).neg();
  });
}

Tensor do_asin(const Tensor& self) {
  return differentiable_in_input(
      "AsinBackward0", Asin{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(rsub(x.square(), 1).rsqrt()); });
}

Tensor do_acos(const Tensor& self) {
  return differentiable_in_input(
      "AcosBackward0", Acos{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(rsub(x.square(), 1).rsqrt()).neg(); });
}

Tensor do_atan(const Tensor& self) {
  return differentiable_in_input(
      "AtanBackward0", Atan{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.square().add(1)); });
}

Tensor do_sinh(const Tensor& self) {
  return differentiable_in_input("SinhBackward0", Sinh{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.cosh()); });
}

Tensor do_cosh(const Tensor& self) {
  return differentiable_in_input("CoshBackward0", Cosh{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.sinh()); });
}

Tensor do_erf(const Tensor& self) {
  return differentiable_in_input("ErfBackward0", Erf{}, self, [](const Tensor& g, const Tensor& x) {
    return g.mul(x.square().neg().exp()).mul(kTwoOverRootPi);
  });
}

Tensor do_erfc(const Tensor& self) {
  return differentiable_in_input("ErfcBackward0", Erfc{}, self,
                                 [](const Tensor& g, const Tensor& x) {
                                   return g.mul(x.square().neg().exp()).mul(-kTwoOverRootPi);
                                 });
}

Tensor do_exp(const Tensor& self) {
  return differentiable_in_output(
      "ExpBackward0", Exp{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y)); });
}

Tensor do_exp2(const Tensor& self) {
  return differentiable_in_output(
      "Exp2Backward0", Exp2{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y).mul(kLn2); });
}

Tensor do_expm1(const Tensor& self) {
  return differentiable_in_output("Expm1Backward0", Expm1{}, self,
                                  [](const Tensor& g, const Tensor& y) { return g.mul(y.add(1)); });
}

Tensor do_sqrt(const Tensor& self) {
  return differentiable_in_output("SqrtBackward0", Sqrt{}, self,
                                  [](const Tensor& g, const Tensor& y) { return g.div(y.mul(2)); });
}

Tensor do_rsqrt(const Tensor& self) {
  return differentiable_in_output(
      "RsqrtBackward0", Rsqrt{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.pow(3)).mul(-0.5); });
}

Tensor do_reciprocal(const Tensor& self) {
  return differentiable_in_output(
      "ReciprocalBackward0", Reciprocal{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y.square())).neg(); });
}

Tensor do_tan(const Tensor& self) {
  return differentiable_in_output(
      "TanBackward0", Tan{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.square().add(1)); });
}

Tensor do_tanh(const Tensor& self) {
  return differentiable_in_output(
      "TanhBackward0", Tanh{}, self,
      [](const Tensor& g, const Tensor& y) { return tanh_slope(g, y); });
}

Tensor do_sigmoid(const Tensor& self) {
  return differentiable_in_output(
      "SigmoidBackward0", Sigmoid{}, self,
      [](const Tensor& g, const Tensor& y) { return sigmoid_slope(g, y); });
}

Tensor do_neg(const Tensor& self) {
  TAEDA_CHECK(self.dtype() != kBool, Neg::not_for_bool);
  if (!self.is_strided()) [[unlikely]]
    return detail::on_values(self, true, [](const Tensor& values) { return values.neg(); });
  Tensor y = pointwise(Neg{}, self);
  if (wants_grad(self)) record("NegBackward0", y, {self}, [](const Tensor& g) { return g.neg(); });
  return y;
}

Tensor do_conj(const Tensor& self) {
  if (!self.is_complex()) return self;
  Tensor y = pointwise(Conj{}, self);
  if (wants_grad(self))
    record("ConjBackward0", y, {self}, [](const Tensor& g) { return g.conj(); });
  return y;
}

namespace {

Tensor angle_of_real(const Tensor& self) {
  const ScalarType dtype = is_integral(self.dtype(), true) ? get_default_dtype() : self.dtype();
  Tensor y;
  {
    NoGradGuard guard;
    y = self.lt(0).to(dtype).mul(std::numbers::pi);
    if (self.is_floating_point()) y = self.where(self.isnan(), y);
  }
  if (wants_grad(self))
    record("AngleBackward0", y, {self}, [](const Tensor& g) { return detail::zeros_like(g); });
  return y;
}

}  // namespace

Tensor do_angle(const Tensor& self) {
  if (!self.is_complex()) return angle_of_real(self);
  Tensor y;
  {
    NoGradGuard guard;
    y = imag(self).atan2(real(self));
  }
  // Turning by dt moves z by i z dt.
  if (wants_grad(self))
    record("AngleBackward0", y, {self}, [x = save_tensor(self)](const Tensor& g) {
      const Tensor z = x.unpack(), square = real(z.mul(z.conj()));
      const Tensor turned = z.mul(Scalar(std::complex<double>(0, 1)));
      return turned.div(square.add(square.eq(0).to(square.dtype()))).mul(g);
    });
  return y;
}

Tensor do_sign(const Tensor& self) { return step_function("SignBackward0", Sign{}, self); }

namespace {

/// Integers are whole already.
template <class Op>
Tensor rounded(const char* node, const Op& op, const Tensor& self) {
  return is_integral(self.dtype()) ? self.clone() : step_function(node, op, self);
}

}  // namespace

Tensor do_floor(const Tensor& self) { return rounded("FloorBackward0", Floor{}, self); }
Tensor do_ceil(const Tensor& self) { return rounded("CeilBackward0", Ceil{}, self); }
Tensor do_round(const Tensor& self) { return rounded("RoundBackward0", Round{}, self); }
Tensor do_round(const Tensor& self, int64_t decimals) {
  check_floating("round", self);
  if (decimals == 0) return self.round();
  const double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  // 16 bits have no place for a number times the scale.
  const Tensor x = self.to(computing_dtype(self.dtype()));
  const Tensor y = decimals > 0 ? x.mul(scale).round().div(scale) : x.div(scale).round().mul(scale);
  return y.to(self.dtype());
}
Tensor do_trunc(const Tensor& self) { return rounded("TruncBackward0", Trunc{}, self); }

Tensor do_frac(const Tensor& self) {
  Tensor y = pointwise(Frac{}, self);
  if (wants_grad(self)) record("FracBackward0", y, {self}, [](const Tensor& g) { return g; });
  return y;
}

// ---- gradients that are operations ----

Tensor do_tanh_backward(const Tensor& grad, const Tensor& result) {
  if (result.is_complex()) return tanh_slope(grad.conj(), result).conj();
  Tensor out = pointwise(TanhBackward{}, grad, result);
  if (wants_grad(grad, result))
    record("TanhBackwardBackward0", out, {grad, result},
           [g = save_tensor(grad, "grad"), y = save_tensor(result, "result")](const Tensor& gg,
                                                                              Needs needs) {
             const Tensor result = y.unpack();
             return TensorVec{needs[0] ? tanh_backward(gg, result) : Tensor(),
                              needs[1] ? gg.mul(g.unpack()).mul(result).mul(-2) : Tensor()};
           });
  return out;
}

Tensor do_sigmoid_backward(const Tensor& grad, const Tensor& result) {
  if (result.is_complex()) return sigmoid_slope(grad.conj(), result).conj();
  Tensor out = pointwise(SigmoidBackward{}, grad, result);
  if (wants_grad(grad, result))
    record("SigmoidBackwardBackward0", out, {grad, result},
           [g = save_tensor(grad, "grad"), y = save_tensor(result, "result")](const Tensor& gg,
                                                                              Needs needs) {
             const Tensor result = y.unpack();
             return TensorVec{needs[0] ? sigmoid_backward(gg, result) : Tensor(),
                              needs[1] ? gg.mul(g.unpack()).mul(rsub(result.mul(2), 1)) : Tensor()};
           });
  return out;
}

// ---- in place ----

namespace {

void write_into(const Tensor& self, const PointwiseCall& call) {
  Tensor target = self;
  run_pointwise(call, target, {Operand(self)});
}

Tensor& unary_in_place(const char* name, const PointwiseCall& call, const Tensor& self,
                       Tensor (*compute)(const Tensor&)) {
  return detail::in_place(
      name, self, wants_grad(self), [compute](const Tensor& t) { return compute(t); },
      [&] { write_into(self, call); });
}

/// For functions whose gradient is given by their result.
Tensor& in_place_by_output(const char* name, const char* node, const PointwiseCall& call,
                           const Tensor& self, detail::GradientFormula gradient) {
  if (!self.is_strided()) [[unlikely]]
    return detail::assign(name, self, wants_grad(self), [&](const Tensor& t) {
      return detail::differentiable(node, call, t, detail::Reads::Output, gradient);
    });
  return detail::in_place_recorded(
      name, node, self, {self}, [&] { write_into(self, call); },
      [&] {
        return [gradient, complex = call.make_complex != nullptr,
                y = save_output(self)](const Tensor& g) {
          return detail::gradient_by(gradient, complex, g, y.unpack());
        };
      });
}

}  // namespace

Tensor& do_exp_(const Tensor& self) {
  return in_place_by_output("exp_", "ExpBackward0", pointwise_call(Exp{}), self,
                            [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y)); });
}

Tensor& do_sqrt_(const Tensor& self) {
  return in_place_by_output("sqrt_", "SqrtBackward0", pointwise_call(Sqrt{}), self,
                            [](const Tensor& g, const Tensor& y) { return g.div(y.mul(2)); });
}

Tensor& do_rsqrt_(const Tensor& self) {
  return in_place_by_output(
      "rsqrt_", "RsqrtBackward0", pointwise_call(Rsqrt{}), self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.pow(3)).mul(-0.5); });
}

Tensor& do_reciprocal_(const Tensor& self) {
  return in_place_by_output(
      "reciprocal_", "ReciprocalBackward0", pointwise_call(Reciprocal{}), self,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y.square())).neg(); });
}

Tensor& do_tanh_(const Tensor& self) {
  return in_place_by_output("tanh_", "TanhBackward0", pointwise_call(Tanh{}), self,
                            [](const Tensor& g, const Tensor& y) { return tanh_slope(g, y); });
}

Tensor& do_sigmoid_(const Tensor& self) {
  return in_place_by_output("sigmoid_", "SigmoidBackward0", pointwise_call(Sigmoid{}), self,
                            [](const Tensor& g, const Tensor& y) { return sigmoid_slope(g, y); });
}

Tensor& do_abs_(const Tensor& self) {
  TAEDA_CHECK(!self.is_complex(), "In-place abs is not supported for complex tensors.");
  return unary_in_place("abs_", pointwise_call(Abs{}), self, &taeda::abs);
}

}  // namespace taeda::inline v0_2
