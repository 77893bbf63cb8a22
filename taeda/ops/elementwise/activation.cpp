#include "taeda/ops/elementwise/activation.h"

#include <cmath>

#include "bodies/activation.h"
#include "taeda/kernels/pointwise/activation_backward.h"
#include "taeda/kernels/pointwise/unary.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/unary.h"

namespace taeda::inline v0_2 {

using detail::in_place;

namespace {

/// The gradient operation of an activation f: grad f'(x), as one kernel. Its own gradients are
/// itself towards `grad`, and second(v, x) = v f''(x), made of differentiable operations, towards
/// x.
template <class Op, class Second>
Tensor gradient(const char* node, const Op& op, const Tensor& grad, const Tensor& x,
                Second second) {
  Tensor out = pointwise(op, grad, x);
  if (wants_grad(grad, x))
    record(node, out, {grad, x},
           [=, g = save_tensor(grad, "grad"), x = save_tensor(x)](const Tensor& gg, Needs needs) {
             const Tensor input = x.unpack();
             return TensorVec{needs[0] ? gradient(node, op, gg, input, second) : Tensor(),
                              needs[1] ? second(gg.mul(g.unpack()), input) : Tensor()};
           });
  return out;
}

/// f'' = 0 almost everywhere: f consists of straight lines.
const auto flat = [](const Tensor& v, const Tensor&) { return detail::zeros_like(v); };

/// The node's name for a gradient that is recorded itself.
constexpr const char* kSecond = "ActivationBackwardBackward0";

/// y = f(x) with `backward(g, x)` as its gradient.
template <class Op, class Backward>
Tensor activation(const char* name, const char* node, const Op& op, const Tensor& x,
                  Backward backward) {
  check_floating(name, x);
  Tensor y = pointwise_as(name, op, x);
  if (wants_grad(x))
    record(node, y, {x},
           [backward, x = save_tensor(x)](const Tensor& g) { return backward(g, x.unpack()); });
  return y;
}

template <class Op, class Compute>
Tensor& activation_(const char* name, const Op& op, const Tensor& self, Compute compute) {
  check_floating(name, self);
  return in_place(name, self, wants_grad(self), compute, [&] { pointwise_into(op, self, self); });
}

}  // namespace

// ---- straight lines ----

namespace {

/// Whether these are integers, for which straight lines have values but no gradients.
bool is_whole(const Tensor& self) { return is_integral(self.dtype()); }

/// A whole number is an integer, which integers of fewer bits take modulo 2^n.
Scalar whole_or_real(double number) {
  return std::abs(number) < 0x1p62 && std::trunc(number) == number ? Scalar(int64_t(number))
                                                                   : Scalar(number);
}

/// Throws Error, in PyTorch's words, if the tensor's dtype has no such value, or what it is
/// computed with no such limit.
void check_threshold(const Tensor& self, double limit, double value) {
  dispatch(RealTypes{}, "threshold", self.dtype(), []<class T>() {});
  detail::check_number(computing_dtype(self.dtype()), whole_or_real(limit));
  detail::check_number(self.dtype(), whole_or_real(value));
}

/// Throws Error, in PyTorch's words, for a number that what `self` is computed with has not.
void check_numbers(const char* name, const Tensor& self, std::initializer_list<double> numbers) {
  check_floating(name, self);
  for (const double n : numbers) detail::check_number(computing_dtype(self.dtype()), n);
}

}  // namespace

Tensor do_threshold_backward(const Tensor& grad, const Tensor& self, double threshold) {
  if (is_whole(self) && is_whole(grad)) {  // bytes beside a wider dtype are compared in that
    const ScalarType common = result_type({grad, self});
    return where(self.to(common).le(int64_t(threshold)), 0, grad.to(common));
  }
  return gradient("ThresholdBackwardBackward0", ThresholdBackward(threshold), grad, self, flat);
}

Tensor do_relu(const Tensor& self) {
  return detail::differentiable_in_output(
      "ReluBackward0", Relu{}, self,
      [](const Tensor& g, const Tensor& y) { return threshold_backward(g, y, 0); });
}

Tensor& do_relu_(const Tensor& self) {
  if (!self.is_strided()) [[unlikely]]
    return detail::assign("relu_", self, wants_grad(self), relu);
  return detail::in_place_recorded(
      "relu_", "ReluBackward0", self, {self}, [&] { pointwise_into(Relu{}, self, self); },
      [&] {
        return [y = save_output(self)](const Tensor& g) {
          return threshold_backward(g, y.unpack(), 0);
        };
      });
}

Tensor do_threshold(const Tensor& self, RealArg threshold, RealArg value) {
  check_threshold(self, threshold, value);
  if (is_whole(self)) return where(self.le(int64_t(threshold)), int64_t(value), self);
  return activation(
      "threshold", "ThresholdBackward0", Threshold(threshold, value), self,
      [=](const Tensor& g, const Tensor& x) { return threshold_backward(g, x, threshold); });
}

Tensor& do_threshold_(const Tensor& self, RealArg limit, RealArg value) {
  check_threshold(self, limit, value);
  if (is_whole(self)) return self.masked_fill_(self.le(int64_t(limit)), int64_t(value));
  return activation_("threshold_", Threshold(limit, value), self,
                     [=](const Tensor& t) { return threshold(t, limit, value); });
}

Tensor do_leaky_relu(const Tensor& self, RealArg negative_slope) {
  check_numbers("leaky_relu", self, {negative_slope});
  return activation("leaky_relu", "LeakyReluBackward0", LeakyRelu(negative_slope), self,
                    [=](const Tensor& g, const Tensor& x) {
                      return gradient("LeakyReluBackwardBackward0",
                                      LeakyReluBackward(negative_slope), g, x, flat);
                    });
}

Tensor& do_leaky_relu_(const Tensor& self, RealArg slope) {
  check_numbers("leaky_relu_", self, {slope});
  return activation_("leaky_relu_", LeakyRelu(slope), self,
                     [=](const Tensor& t) { return leaky_relu(t, slope); });
}

namespace {

/// The gradients of x > 0 ? x : w x. Theirs take 0 for a positive x, as PyTorch's do.
Tensor prelu_backward(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  const Tensor out = pointwise(PreluBackward{}, grad, x, weight);
  if (wants_grad(grad, x, weight))
    record("PreluKernelBackwardBackward0", out, {grad, x, weight},
           [g = save_tensor(grad, "grad"), x = save_tensor(x), w = save_tensor(weight, "weight")](
               const Tensor& gg, Needs needs) {
             const Tensor input = x.unpack(), positive = input.ge(0);
             return TensorVec{needs[0] ? where(positive, gg, gg.mul(w.unpack())) : Tensor(),
                              needs[1] ? detail::zeros_like(input) : Tensor(),
                              needs[2] ? where(positive, Scalar(0), gg.mul(g.unpack())) : Tensor()};
           });
  return out;
}
Tensor prelu_weight_backward(const Tensor& grad, const Tensor& x, const Tensor& weight) {
  const Tensor out = pointwise(PreluWeightBackward{}, grad, x);
  if (wants_grad(grad, x, weight))
    record("PreluKernelBackwardBackward0", out, {grad, x, weight},
           [g = save_tensor(grad, "grad"), x = save_tensor(x), w = save_tensor(weight, "weight")](
               const Tensor& gg, Needs needs) {
             const Tensor input = x.unpack(), positive = input.ge(0);
             return TensorVec{needs[0] ? where(positive, Scalar(0), gg.mul(input)) : Tensor(),
                              needs[1] ? where(positive, Scalar(0), gg.mul(g.unpack())) : Tensor(),
                              needs[2] ? detail::zeros_like(w.unpack()) : Tensor()};
           });
  return out;
}

}  // namespace

Tensor do_prelu(const Tensor& self, const Tensor& weight) {
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  TAEDA_CHECK(
      weight.dim() <= 1,
      "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  TAEDA_CHECK(weight.numel() == 1 || weight.numel() == channels,
              "Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
              weight.numel(), " and channel size = ", channels, ".");
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  if (weight.numel() > 1) shape[1] = channels;
  const Tensor w = weight.reshape(shape).to(self.dtype());
  if (!self.is_floating_point()) return where(self.gt(0), self, self.mul(w));
  const Tensor out = pointwise(Prelu{}, self, w);
  if (wants_grad(self, w))
    record("PreluKernelBackward0", out, {self, w},
           [x = save_tensor(self), w = save_tensor(w, "weight")](const Tensor& g, Needs needs) {
             const Tensor input = x.unpack();
             return TensorVec{needs[0] ? prelu_backward(g, input, w.unpack()) : Tensor(),
                              needs[1] ? prelu_weight_backward(g, input, w.unpack()) : Tensor()};
           });
  return out;
}

namespace {

void check_hardtanh(const Tensor& self, double low, double high) {
  TAEDA_CHECK_AS(NotImplementedError, self.dtype() != kBool,
                 "Bool inputs not supported for hardtanh");
  TAEDA_CHECK_AS(NotImplementedError, !self.is_complex(),
                 "clamp is not supported for complex types");
  for (const double bound : {low, high})
    detail::check_number(is_whole(self) ? kLong : self.dtype(), bound);
  TAEDA_CHECK_VALUE(!(low > high), "hardtanh: min_val cannot be greater than max_val, got ", low,
                    " and ", high);
}

}  // namespace

Tensor do_hardtanh(const Tensor& self, RealArg min_val, RealArg max_val) {
  check_hardtanh(self, min_val, max_val);
  if (is_whole(self)) return self.clamp(int64_t(min_val), int64_t(max_val));
  Tensor y = pointwise_as("hardtanh", Clamp{}, self, double{min_val}, double{max_val});
  if (wants_grad(self))
    record("HardtanhBackward0", y, {self}, [=, x = save_tensor(self)](const Tensor& g) {
      return gradient("HardtanhBackwardBackward0", InsideBackward(min_val, max_val), g, x.unpack(),
                      flat);
    });
  return y;
}

Tensor& do_hardtanh_(const Tensor& self, RealArg low, RealArg high) {
  check_hardtanh(self, low, high);
  if (is_whole(self)) return self.clamp_(int64_t(low), int64_t(high));
  return in_place(
      "hardtanh_", self, wants_grad(self), [=](const Tensor& t) { return hardtanh(t, low, high); },
      [&] { pointwise_into(Clamp{}, self, self, double{low}, double{high}); });
}

Tensor do_relu6(const Tensor& self) { return hardtanh(self, 0, 6); }
Tensor& do_relu6_(const Tensor& self) { return hardtanh_(self, 0, 6); }

Tensor do_hardsigmoid(const Tensor& self) {
  return activation("hardsigmoid", "HardsigmoidBackward0", Hardsigmoid{}, self,
                    [](const Tensor& g, const Tensor& x) {
                      return gradient("HardsigmoidBackwardBackward0", InsideBackward(-3, 3),
                                      g.div(6), x, flat);
                    });
}
Tensor& do_hardsigmoid_(const Tensor& self) {
  return activation_("hardsigmoid_", Hardsigmoid{}, self, &hardsigmoid);
}

Tensor do_hardswish(const Tensor& self) {
  return activation(
      "hardswish", "HardswishBackward0", Hardswish{}, self, [](const Tensor& g, const Tensor& x) {
        return gradient("HardswishBackwardBackward0", HardswishBackward{}, g, x,
                        [](const Tensor& v, const Tensor& x) {
                          return gradient(kSecond, InsideBackward(-3, 3), v.div(3), x, flat);
                        });
      });
}
Tensor& do_hardswish_(const Tensor& self) {
  return activation_("hardswish_", Hardswish{}, self, &hardswish);
}

namespace {

/// A bound as tensors of a dtype hold it: an element that was made of the bound is not beyond it.
double bound_of_dtype(ScalarType dtype, double bound) {
  detail::check_number(dtype, bound);
  if (dtype == kHalf) return float(Half(float(bound)));
  if (dtype == kBFloat16) return float(BFloat16(float(bound)));
  return bound;
}

}  // namespace

Tensor do_softshrink(const Tensor& self, RealArg lambd) {
  check_floating("softshrink", self);
  const double most = detail::largest(self.dtype());
  TAEDA_CHECK(lambd >= 0 && lambd <= most, "lambda must be in range [0, ", most,
              "] for input dtype ", self.dtype(), ", but found ", lambd);
  const double bound = bound_of_dtype(self.dtype(), lambd);
  return activation("softshrink", "SoftshrinkBackward0", Softshrink(bound), self,
                    [=](const Tensor& g, const Tensor& x) {
                      return gradient("SoftshrinkBackwardBackward0", OutsideBackward(bound), g, x,
                                      flat);
                    });
}

Tensor do_hardshrink(const Tensor& self, RealArg lambd) {
  check_floating("hardshrink", self);
  const double bound = bound_of_dtype(self.dtype(), lambd);
  Tensor y = pointwise_as("hardshrink", OutsideBackward(bound), self, self);
  if (wants_grad(self))
    record("HardshrinkBackward0", y, {self}, [=, x = save_tensor(self)](const Tensor& g) {
      return gradient("HardshrinkBackwardBackward0", OutsideBackward(bound), g, x.unpack(), flat);
    });
  return y;
}

// ---- exponentials ----

namespace {

/// v times the second derivative of elu.
auto elu_second(double alpha, double scale, double input_scale) {
  return [=](const Tensor& v, const Tensor& x) {
    const Tensor curved =
        v.mul(x.mul(input_scale).exp()).mul(alpha * scale * input_scale * input_scale);
    return where(x.lt(0), curved, Scalar(0));
  };
}

Tensor elu_as(const char* name, const char* node, const Tensor& self, double alpha, double scale,
              double input_scale) {
  check_numbers(name, self, {alpha, scale, input_scale});
  return activation(
      name, node, Elu(alpha, scale, input_scale), self, [=](const Tensor& g, const Tensor& x) {
        return gradient("EluBackwardBackward0", EluBackward(alpha, scale, input_scale), g, x,
                        elu_second(alpha, scale, input_scale));
      });
}

void check_celu(double alpha) {
  TAEDA_CHECK(alpha != 0, "ZeroDivisionError: alpha cannot be 0 for CELU");
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

}  // namespace

Tensor do_elu(const Tensor& self, RealArg alpha, RealArg scale, RealArg input_scale) {
  return elu_as("elu", "EluBackward0", self, alpha, scale, input_scale);
}
Tensor& do_elu_(const Tensor& self, RealArg alpha, RealArg scale, RealArg input_scale) {
  check_numbers("elu_", self, {alpha, scale, input_scale});
  return activation_("elu_", Elu(alpha, scale, input_scale), self,
                     [=](const Tensor& t) { return elu(t, alpha, scale, input_scale); });
}

Tensor do_celu(const Tensor& self, RealArg alpha) {
  check_celu(alpha);
  return elu_as("celu", "CeluBackward0", self, alpha, 1, 1 / alpha);
}
Tensor& do_celu_(const Tensor& self, RealArg alpha) {
  check_celu(alpha);
  check_numbers("celu_", self, {alpha, 1 / alpha});
  return activation_("celu_", Elu(alpha, 1, 1 / alpha), self,
                     [=](const Tensor& t) { return celu(t, alpha); });
}

Tensor do_selu(const Tensor& self) {
  return elu_as("selu", "EluBackward0", self, kSeluAlpha, kSeluScale, 1);
}
Tensor& do_selu_(const Tensor& self) {
  return activation_("selu_", Elu(kSeluAlpha, kSeluScale, 1), self, &selu);
}

Tensor do_softplus(const Tensor& self, RealArg beta, RealArg threshold) {
  check_numbers("softplus", self, {beta, threshold});
  const auto second = [factor = double{beta}, limit = double{threshold}](const Tensor& v,
                                                                         const Tensor& x) {
    const Tensor s = x.mul(factor).sigmoid();
    return where(x.mul(factor).gt(limit), Scalar(0), v.mul(s).mul(rsub(s, 1)).mul(factor));
  };
  return activation("softplus", "SoftplusBackward0", Softplus(beta, threshold), self,
                    [=](const Tensor& g, const Tensor& x) {
                      return gradient("SoftplusBackwardBackward0",
                                      SoftplusBackward(beta, threshold), g, x, second);
                    });
}

Tensor do_log_sigmoid(const Tensor& self) {
  return activation("log_sigmoid", "LogSigmoidBackward0", LogSigmoid{}, self,
                    [](const Tensor& g, const Tensor& x) {
                      return gradient("LogSigmoidBackwardBackward0", LogSigmoidBackward{}, g, x,
                                      [](const Tensor& v, const Tensor& x) {
                                        const Tensor s = x.sigmoid();
                                        return v.mul(s).mul(s.sub(1));
                                      });
                    });
}

Tensor do_silu_backward(const Tensor& grad, const Tensor& self) {
  return gradient("SiluBackwardBackward0", SiluBackward{}, grad, self,
                  [](const Tensor& v, const Tensor& x) {
                    const Tensor s = x.sigmoid(), rest = rsub(s, 1);
                    return v.mul(s).mul(rest).mul(x.mul(rest.sub(s)).add(2));
                  });
}

Tensor do_silu(const Tensor& self) {
  if (self.is_complex()) return self.mul(self.sigmoid());
  return activation("silu", "SiluBackward0", Silu{}, self, &silu_backward);
}
Tensor& do_silu_(const Tensor& self) {
  if (!self.is_complex()) return activation_("silu_", Silu{}, self, &silu);
  return in_place("silu_", self, wants_grad(self), &silu, [&] {
    NoGradGuard guard;
    self.copy_(silu(self));
  });
}

Tensor do_mish(const Tensor& self) {
  return activation("mish", "MishBackward0", Mish{}, self, [](const Tensor& g, const Tensor& x) {
    return gradient("MishBackwardBackward0", MishBackward{}, g, x,
                    [](const Tensor& v, const Tensor& x) {
                      const Tensor s = x.sigmoid(), t = softplus(x).tanh();
                      const Tensor bracket = x.mul(rsub(s, 1)).add(2).sub(x.mul(s).mul(t).mul(2));
                      return v.mul(rsub(t.square(), 1)).mul(s).mul(bracket);
                    });
  });
}
Tensor& do_mish_(const Tensor& self) { return activation_("mish_", Mish{}, self, &mish); }

// ---- GELU ----

namespace {

/// (2 - x^2) times the normal density.
Tensor gelu_second(const Tensor& v, const Tensor& x) {
  const Tensor density = x.square().mul(-0.5).exp().mul(detail::kInverseRootTwoPi);
  return v.mul(density).mul(rsub(x.square(), 2));
}

/// f = x (1 + t) / 2 with t = tanh(u), u = k (x + c x^3): f'' = (1 - t^2) (u' + x u'' / 2 - x t
/// u'^2).
Tensor gelu_tanh_second(const Tensor& v, const Tensor& x) {
  constexpr double k = detail::kRootTwoOverPi, c = detail::kGeluCubic;
  const Tensor square = x.square(), t = x.mul(square.mul(c).add(1)).mul(k).tanh();
  const Tensor u1 = square.mul(3 * c).add(1).mul(k), half_x_u2 = square.mul(3 * k * c);
  return v.mul(rsub(t.square(), 1)).mul(u1.add(half_x_u2).sub(x.mul(t).mul(u1.square())));
}

bool is_tanh_form(std::string_view approximate) {
  TAEDA_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  return approximate == "tanh";
}

}  // namespace

Tensor do_gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate) {
  return is_tanh_form(approximate)
             ? gradient("GeluBackwardBackward0", GeluTanhBackward{}, grad, self, &gelu_tanh_second)
             : gradient("GeluBackwardBackward0", GeluBackward{}, grad, self, &gelu_second);
}

Tensor do_gelu(const Tensor& self, std::string_view approximate) {
  if (is_tanh_form(approximate))
    return activation("gelu", "GeluBackward0", GeluTanh{}, self,
                      [](const Tensor& g, const Tensor& x) { return gelu_backward(g, x, "tanh"); });
  return activation("gelu", "GeluBackward0", Gelu{}, self,
                    [](const Tensor& g, const Tensor& x) { return gelu_backward(g, x, "none"); });
}

Tensor& do_gelu_(const Tensor& self, std::string_view approximate) {
  return detail::assign("gelu_", self, wants_grad(self),
                        [=](const Tensor& t) { return gelu(t, approximate); });
}

// ---- compositions ----

Tensor do_softsign(const Tensor& self) { return self.div(self.abs().add(1)); }
Tensor do_tanhshrink(const Tensor& self) { return self.sub(self.tanh()); }

Tensor do_glu(const Tensor& self, int64_t dim) {
  TAEDA_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dim(dim, self.dim()), size = self.size(d);
  TAEDA_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", d, " is size ",
              size);
  return self.narrow(d, 0, size / 2).mul(self.narrow(d, size / 2, size / 2).sigmoid());
}

}  // namespace taeda::inline v0_2
