// Operators of one tensor.
#include <cmath>

#include "taeda/base/error.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/elementwise/unary.h"

namespace taeda::inline v0_2::onnx {

namespace {

template <auto function>
void unary(Run& r) {
  r.give(function(r.in(0)));
}

void run_round(Run& r) { r.give(r.in(0).round()); }

void run_clip(Run& r) {
  Tensor low = r.maybe(1), high = r.maybe(2), out = r.in(0);
  if (!low.defined() && r.told("min")) low = out.new_full({}, r.real("min", 0));
  if (!high.defined() && r.told("max")) high = out.new_full({}, r.real("max", 0));
  if (low.defined()) out = maximum(out, low.to(out.device()));
  if (high.defined()) out = minimum(out, high.to(out.device()));
  r.give(out);
}

void run_cast(Run& r) {
  TAEDA_CHECK(r.told("to"), "it does not say what to cast to");
  const ScalarType to = dtype_of_number(r.integer("to", 0));
  r.give(r.in(0).to(to));
}

void run_elu(Run& r) { r.give(elu(r.in(0), r.real("alpha", 1))); }

void run_selu(Run& r) {
  // The constants of the paper, as 32-bit floats hold them.
  constexpr double kAlpha = 1.6732632423543772, kGamma = 1.0507009873554805;
  r.give(elu(r.in(0), r.real("alpha", kAlpha), r.real("gamma", kGamma)));
}

void run_prelu(Run& r) {
  const Tensor& x = r.in(0);
  r.give(maximum(x, x.new_zeros({})).add(minimum(x, x.new_zeros({})).mul(r.in(1))));
}

void run_hard_sigmoid(Run& r) {
  constexpr double kAlpha = 0.2, kBeta = 0.5;
  r.give(r.in(0).mul(r.real("alpha", kAlpha)).add(r.real("beta", kBeta)).clamp(0, 1));
}

void run_shrink(Run& r) {
  const Tensor& x = r.in(0);
  const double lambda = r.real("lambd", 0.5), bias = r.real("bias", 0);
  const Tensor zero = x.new_zeros({});
  r.give(where(x.gt(lambda), x.sub(bias), where(x.lt(-lambda), x.add(bias), zero)));
}

void run_thresholded_relu(Run& r) {
  const Tensor& x = r.in(0);
  r.give(where(x.gt(r.real("alpha", 1)), x, x.new_zeros({})));
}

void run_is_inf(Run& r) {
  const Tensor& x = r.in(0);
  const bool above = r.integer("detect_positive", 1) != 0,
             below = r.integer("detect_negative", 1) != 0;
  const Tensor infinite = isinf(x);
  r.give(above && below ? infinite
                        : infinite.logical_and(above   ? x.gt(0)
                                               : below ? x.lt(0)
                                                       : x.ne(x)));
}

constexpr Operator kUnary[] = {
    {"Abs", unary<[](const Tensor& x) { return x.abs(); }>},
    {"Neg", unary<[](const Tensor& x) { return x.neg(); }>},
    {"Sign", unary<[](const Tensor& x) { return x.sign(); }>},
    {"Exp", unary<[](const Tensor& x) { return x.exp(); }>},
    {"Log", unary<[](const Tensor& x) { return x.log(); }>},
    {"Sqrt", unary<[](const Tensor& x) { return x.sqrt(); }>},
    {"Reciprocal", unary<[](const Tensor& x) { return x.reciprocal(); }>},
    {"Sin", unary<[](const Tensor& x) { return x.sin(); }>},
    {"Cos", unary<[](const Tensor& x) { return x.cos(); }>},
    {"Tan", unary<[](const Tensor& x) { return x.tan(); }>},
    {"Asin", unary<[](const Tensor& x) { return x.asin(); }>},
    {"Acos", unary<[](const Tensor& x) { return x.acos(); }>},
    {"Atan", unary<[](const Tensor& x) { return x.atan(); }>},
    {"Sinh", unary<[](const Tensor& x) { return x.sinh(); }>},
    {"Cosh", unary<[](const Tensor& x) { return x.cosh(); }>},
    {"Tanh", unary<[](const Tensor& x) { return x.tanh(); }>},
    {"Asinh", unary<[](const Tensor& x) { return asinh(x); }>},
    {"Acosh", unary<[](const Tensor& x) { return acosh(x); }>},
    {"Atanh", unary<[](const Tensor& x) { return atanh(x); }>},
    {"Erf", unary<[](const Tensor& x) { return x.erf(); }>},
    {"Floor", unary<[](const Tensor& x) { return x.floor(); }>},
    {"Ceil", unary<[](const Tensor& x) { return x.ceil(); }>},
    {"Round", run_round},
    {"Sigmoid", unary<[](const Tensor& x) { return x.sigmoid(); }>},
    {"Relu", unary<[](const Tensor& x) { return relu(x); }>},
    {"Softplus", unary<[](const Tensor& x) { return softplus(x); }>},
    {"Softsign", unary<[](const Tensor& x) { return softsign(x); }>},
    {"HardSwish", unary<[](const Tensor& x) { return hardswish(x); }>},
    {"Mish", unary<[](const Tensor& x) { return mish(x); }>},
    {"Not", unary<[](const Tensor& x) { return x.logical_not(); }>},
    {"BitwiseNot", unary<[](const Tensor& x) { return x.bitwise_not(); }>},
    {"IsNaN", unary<[](const Tensor& x) { return isnan(x); }>},
    {"IsInf", run_is_inf},
    {"Identity", unary<[](const Tensor& x) { return x; }>},
    {"Clip", run_clip},
    {"Cast", run_cast},
    {"CastLike", [](Run& r) { r.give(r.in(0).to(r.in(1).dtype())); }},
    {"LeakyRelu", [](Run& r) { r.give(leaky_relu(r.in(0), r.real("alpha", 0.01))); }},
    {"PRelu", run_prelu},
    {"Elu", run_elu},
    {"Celu", [](Run& r) { r.give(celu(r.in(0), r.real("alpha", 1))); }},
    {"Selu", run_selu},
    {"Gelu",
     [](Run& r) {
       const std::string approximate = r.text("approximate", "none");
       r.give(gelu(r.in(0), approximate));
     }},
    {"HardSigmoid", run_hard_sigmoid},
    {"Shrink", run_shrink},
    {"ThresholdedRelu", run_thresholded_relu},
    // Training is not what a file is run for.
    {"Dropout",
     [](Run& r) {
       r.give(r.in(0));
       if (r.wants(1)) r.give(r.in(0).new_ones(r.in(0).sizes(), kBool), 1);
     }},
};

}  // namespace

std::span<const Operator> pointwise_operators() { return kUnary; }

}  // namespace taeda::inline v0_2::onnx
