#include "taeda/ops/elementwise/unary.h"

#include <numbers>

#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/tensor/observer.h"

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

Tensor abs(const Tensor& self) {
  if (is_observed()) return observe("abs", abs, self);
  return differentiable_in_input("AbsBackward0", Abs{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(unit(x)); });
}

Tensor log(const Tensor& self) {
  if (is_observed()) return observe("log", log, self);
  if (AutocastMode::is_active()) return policy::declared<"log">(log, self);
  return differentiable_in_input("LogBackward0", Log{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.div(x); });
}

Tensor log2(const Tensor& self) {
  if (is_observed()) return observe("log2", log2, self);
  if (AutocastMode::is_active()) return policy::declared<"log2">(log2, self);
  return differentiable_in_input(
      "Log2Backward0", Log2{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.mul(kLn2)); });
}

Tensor log10(const Tensor& self) {
  if (is_observed()) return observe("log10", log10, self);
  if (AutocastMode::is_active()) return policy::declared<"log10">(log10, self);
  return differentiable_in_input(
      "Log10Backward0", Log10{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.mul(kLn10)); });
}

Tensor log1p(const Tensor& self) {
  if (is_observed()) return observe("log1p", log1p, self);
  if (AutocastMode::is_active()) return policy::declared<"log1p">(log1p, self);
  return differentiable_in_input("Log1pBackward0", Log1p{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.div(x.add(1)); });
}

Tensor square(const Tensor& self) {
  if (is_observed()) return observe("square", square, self);
  if (self.dtype() == kBool) return square(self.to(kLong));
  return differentiable_in_input(
      "SquareBackward0", Square{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(conjugate(x)).mul(2); });
}

Tensor sin(const Tensor& self) {
  if (is_observed()) return observe("sin", sin, self);
  return differentiable_in_input("SinBackward0", Sin{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.cos()); });
}

Tensor cos(const Tensor& self) {
  if (is_observed()) return observe("cos", cos, self);
  return differentiable_in_input("CosBackward0", Cos{}, self, [](const Tensor& g, const Tensor& x) {
    return g.mul(x.sin()).neg();
  });
}

Tensor asin(const Tensor& self) {
  if (is_observed()) return observe("asin", asin, self);
  if (AutocastMode::is_active()) return policy::declared<"asin">(asin, self);
  return differentiable_in_input(
      "AsinBackward0", Asin{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(rsub(x.square(), 1).rsqrt()); });
}

Tensor acos(const Tensor& self) {
  if (is_observed()) return observe("acos", acos, self);
  if (AutocastMode::is_active()) return policy::declared<"acos">(acos, self);
  return differentiable_in_input(
      "AcosBackward0", Acos{}, self,
      [](const Tensor& g, const Tensor& x) { return g.mul(rsub(x.square(), 1).rsqrt()).neg(); });
}

Tensor atan(const Tensor& self) {
  if (is_observed()) return observe("atan", atan, self);
  return differentiable_in_input(
      "AtanBackward0", Atan{}, self,
      [](const Tensor& g, const Tensor& x) { return g.div(x.square().add(1)); });
}

Tensor sinh(const Tensor& self) {
  if (is_observed()) return observe("sinh", sinh, self);
  if (AutocastMode::is_active()) return policy::declared<"sinh">(sinh, self);
  return differentiable_in_input("SinhBackward0", Sinh{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.cosh()); });
}

Tensor cosh(const Tensor& self) {
  if (is_observed()) return observe("cosh", cosh, self);
  if (AutocastMode::is_active()) return policy::declared<"cosh">(cosh, self);
  return differentiable_in_input("CoshBackward0", Cosh{}, self,
                                 [](const Tensor& g, const Tensor& x) { return g.mul(x.sinh()); });
}

Tensor erf(const Tensor& self) {
  if (is_observed()) return observe("erf", erf, self);
  return differentiable_in_input("ErfBackward0", Erf{}, self, [](const Tensor& g, const Tensor& x) {
    return g.mul(x.square().neg().exp()).mul(kTwoOverRootPi);
  });
}

Tensor erfc(const Tensor& self) {
  return differentiable_in_input("ErfcBackward0", Erfc{}, self,
                                 [](const Tensor& g, const Tensor& x) {
                                   return g.mul(x.square().neg().exp()).mul(-kTwoOverRootPi);
                                 });
}

Tensor exp(const Tensor& self) {
  if (is_observed()) return observe("exp", exp, self);
  if (AutocastMode::is_active()) return policy::declared<"exp">(exp, self);
  return differentiable_in_output(
      "ExpBackward0", Exp{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y)); });
}

Tensor exp2(const Tensor& self) {
  if (is_observed()) return observe("exp2", exp2, self);
  return differentiable_in_output(
      "Exp2Backward0", Exp2{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y).mul(kLn2); });
}

Tensor expm1(const Tensor& self) {
  if (is_observed()) return observe("expm1", expm1, self);
  if (AutocastMode::is_active()) return policy::declared<"expm1">(expm1, self);
  return differentiable_in_output("Expm1Backward0", Expm1{}, self,
                                  [](const Tensor& g, const Tensor& y) { return g.mul(y.add(1)); });
}

Tensor sqrt(const Tensor& self) {
  if (is_observed()) return observe("sqrt", sqrt, self);
  return differentiable_in_output("SqrtBackward0", Sqrt{}, self,
                                  [](const Tensor& g, const Tensor& y) { return g.div(y.mul(2)); });
}

Tensor rsqrt(const Tensor& self) {
  if (is_observed()) return observe("rsqrt", rsqrt, self);
  if (AutocastMode::is_active()) return policy::declared<"rsqrt">(rsqrt, self);
  return differentiable_in_output(
      "RsqrtBackward0", Rsqrt{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.pow(3)).mul(-0.5); });
}

Tensor reciprocal(const Tensor& self) {
  if (is_observed()) return observe("reciprocal", reciprocal, self);
  if (AutocastMode::is_active()) return policy::declared<"reciprocal">(reciprocal, self);
  return differentiable_in_output(
      "ReciprocalBackward0", Reciprocal{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y.square())).neg(); });
}

Tensor tan(const Tensor& self) {
  if (is_observed()) return observe("tan", tan, self);
  if (AutocastMode::is_active()) return policy::declared<"tan">(tan, self);
  return differentiable_in_output(
      "TanBackward0", Tan{}, self,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.square().add(1)); });
}

Tensor tanh(const Tensor& self) {
  if (is_observed()) return observe("tanh", tanh, self);
  return differentiable_in_output(
      "TanhBackward0", Tanh{}, self,
      [](const Tensor& g, const Tensor& y) { return tanh_slope(g, y); });
}

Tensor sigmoid(const Tensor& self) {
  if (is_observed()) return observe("sigmoid", sigmoid, self);
  return differentiable_in_output(
      "SigmoidBackward0", Sigmoid{}, self,
      [](const Tensor& g, const Tensor& y) { return sigmoid_slope(g, y); });
}

Tensor neg(const Tensor& self) {
  if (is_observed()) return observe("neg", neg, self);
  TAEDA_CHECK(self.dtype() != kBool, Neg::not_for_bool);
  if (!self.is_strided()) [[unlikely]]
    return detail::on_values(self, true, [](const Tensor& values) { return values.neg(); });
  Tensor y = pointwise(Neg{}, self);
  if (wants_grad(self)) record("NegBackward0", y, {self}, [](const Tensor& g) { return g.neg(); });
  return y;
}

Tensor conj(const Tensor& self) {
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

Tensor angle(const Tensor& self) {
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

Tensor sign(const Tensor& self) {
  if (is_observed()) return observe("sign", sign, self);
  return step_function("SignBackward0", Sign{}, self);
}

namespace {

/// Integers are whole already.
template <class Op>
Tensor rounded(const char* node, const Op& op, const Tensor& self) {
  return is_integral(self.dtype()) ? self.clone() : step_function(node, op, self);
}

}  // namespace

Tensor floor(const Tensor& self) {
  if (is_observed()) return observe("floor", floor, self);
  return rounded("FloorBackward0", Floor{}, self);
}
Tensor ceil(const Tensor& self) {
  if (is_observed()) return observe("ceil", ceil, self);
  return rounded("CeilBackward0", Ceil{}, self);
}
Tensor round(const Tensor& self) {
  if (is_observed()) return observe_overloaded("round", round, self);
  return rounded("RoundBackward0", Round{}, self);
}
Tensor round(const Tensor& self, int64_t decimals) {
  if (is_observed()) return observe_overloaded("round", round, self, decimals);
  check_floating("round", self);
  if (decimals == 0) return self.round();
  const double scale = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  // 16 bits have no place for a number times the scale.
  const Tensor x = self.to(computing_dtype(self.dtype()));
  const Tensor y = decimals > 0 ? x.mul(scale).round().div(scale) : x.div(scale).round().mul(scale);
  return y.to(self.dtype());
}
Tensor trunc(const Tensor& self) {
  if (is_observed()) return observe("trunc", trunc, self);
  return rounded("TruncBackward0", Trunc{}, self);
}

Tensor frac(const Tensor& self) {
  Tensor y = pointwise(Frac{}, self);
  if (wants_grad(self)) record("FracBackward0", y, {self}, [](const Tensor& g) { return g; });
  return y;
}

// ---- gradients that are operations ----

Tensor tanh_backward(const Tensor& grad, const Tensor& result) {
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

Tensor sigmoid_backward(const Tensor& grad, const Tensor& result) {
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

Tensor& Tensor::exp_() const {
  if (is_observed()) return observe_method<Tensor&>("exp_", &Tensor::exp_, *this);
  return in_place_by_output("exp_", "ExpBackward0", pointwise_call(Exp{}), *this,
                            [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y)); });
}

Tensor& Tensor::sqrt_() const {
  if (is_observed()) return observe_method<Tensor&>("sqrt_", &Tensor::sqrt_, *this);
  return in_place_by_output("sqrt_", "SqrtBackward0", pointwise_call(Sqrt{}), *this,
                            [](const Tensor& g, const Tensor& y) { return g.div(y.mul(2)); });
}

Tensor& Tensor::rsqrt_() const {
  if (is_observed()) return observe_method<Tensor&>("rsqrt_", &Tensor::rsqrt_, *this);
  return in_place_by_output(
      "rsqrt_", "RsqrtBackward0", pointwise_call(Rsqrt{}), *this,
      [](const Tensor& g, const Tensor& y) { return g.mul(y.pow(3)).mul(-0.5); });
}

Tensor& Tensor::reciprocal_() const {
  if (is_observed()) return observe_method<Tensor&>("reciprocal_", &Tensor::reciprocal_, *this);
  return in_place_by_output(
      "reciprocal_", "ReciprocalBackward0", pointwise_call(Reciprocal{}), *this,
      [](const Tensor& g, const Tensor& y) { return g.mul(conjugate(y.square())).neg(); });
}

Tensor& Tensor::tanh_() const {
  if (is_observed()) return observe_method<Tensor&>("tanh_", &Tensor::tanh_, *this);
  return in_place_by_output("tanh_", "TanhBackward0", pointwise_call(Tanh{}), *this,
                            [](const Tensor& g, const Tensor& y) { return tanh_slope(g, y); });
}

Tensor& Tensor::sigmoid_() const {
  if (is_observed()) return observe_method<Tensor&>("sigmoid_", &Tensor::sigmoid_, *this);
  return in_place_by_output("sigmoid_", "SigmoidBackward0", pointwise_call(Sigmoid{}), *this,
                            [](const Tensor& g, const Tensor& y) { return sigmoid_slope(g, y); });
}

Tensor& Tensor::abs_() const {
  if (is_observed()) return observe_method<Tensor&>("abs_", &Tensor::abs_, *this);
  TAEDA_CHECK(!is_complex(), "In-place abs is not supported for complex tensors.");
  return unary_in_place("abs_", pointwise_call(Abs{}), *this, &taeda::abs);
}

}  // namespace taeda::inline v0_2
