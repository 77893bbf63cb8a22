// Functions of one tensor.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kHasMish = 18, kHasGelu = 20;

/// The argument in the result's dtype: integers become floats where the operation makes them so.
std::string argument_of(Call& c) { return c.operand(0, c.dtype()); }

/// The name of an operator as an argument of a template.
template <size_t N>
struct OperatorName {
  constexpr OperatorName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

template <OperatorName op>
void same_operator(Call& c) {
  c.give(c.emit(op.text, {argument_of(c)}));
}

std::string times(Call& c, const std::string& x, double factor) {
  return c.emit("Mul", {x, c.number(factor, c.dtype())});
}

std::string sigmoid_of(Call& c, const std::string& x) { return c.emit("Sigmoid", {x}); }

/// Between two bounds, either of which may be an empty name.
void clip(Call& c, const std::string& low, const std::string& high) {
  c.give(c.emit("Clip", {argument_of(c), low, high}));
}

void write_rounded(Call& c) {
  if (c.has(1) && c.integer(1) != 0) c.refuse("it rounds to decimals");
  c.give(c.emit("Round", {argument_of(c)}));
}

void write_gelu(Call& c) {
  const std::string x = argument_of(c), approximate = c.text(1, "none");
  if (c.opset() >= kHasGelu) return c.give(c.emit("Gelu", {x}, {{"approximate", approximate}}));
  std::string inner;
  if (approximate == "tanh") {
    const std::string cube = c.emit("Mul", {c.emit("Mul", {x, x}), x});
    const std::string sum = c.emit("Add", {x, times(c, cube, 0.044715)});
    inner = c.emit("Tanh", {times(c, sum, std::sqrt(2 * std::numbers::inv_pi))});
  } else {
    inner = c.emit("Erf", {times(c, x, 1 / std::numbers::sqrt2)});
  }
  const std::string half = times(c, x, 0.5);
  c.give(c.emit("Mul", {half, c.emit("Add", {inner, c.number(1, c.dtype())})}));
}

/// log(1 + e^(beta x)) / beta; where beta x is beyond the threshold, that is x within the rounding
/// of its dtype.
std::string softplus_of(Call& c, const std::string& x, double beta) {
  if (beta == 1) return c.emit("Softplus", {x});
  return times(c, c.emit("Softplus", {times(c, x, beta)}), 1 / beta);
}

void write_mish(Call& c) {
  const std::string x = argument_of(c);
  if (c.opset() >= kHasMish) return c.give(c.emit("Mish", {x}));
  c.give(c.emit("Mul", {x, c.emit("Tanh", {c.emit("Softplus", {x})})}));
}

void write_elu(Call& c) {
  if (c.real(2, 1) != 1 || c.real(3, 1) != 1) c.refuse("it has a scale");
  c.give(c.emit("Elu", {argument_of(c)}, {{"alpha", c.real(1, 1)}}));
}

void write_prelu(Call& c) {
  const int64_t channels = c.fixed_size(1, 0);
  std::vector<Size> shape{fixed(channels)};
  for (int64_t d = 2; d < c.rank(0) && channels > 1; ++d) shape.push_back(fixed(1));
  const std::string slope = c.reshape(c.in(1), c.sizes_of_argument(1), shape);
  c.give(c.emit("PRelu", {c.in(0), slope}));
}

void write_threshold(Call& c) {
  const std::string x = argument_of(c);
  const std::string above = c.emit("Greater", {x, c.number(c.real(1), c.dtype())});
  c.give(c.emit("Where", {above, x, c.number(c.real(2), c.dtype())}));
}

void write_glu(Call& c) {
  const int64_t dim = c.dim(1, c.rank(0), -1);
  const int64_t half = c.fixed_size(0, dim) / 2;
  const std::string a = c.slice(c.in(0), dim, fixed(0), fixed(half)),
                    b = c.slice(c.in(0), dim, fixed(half), fixed(2 * half));
  c.give(c.emit("Mul", {a, sigmoid_of(c, b)}));
}

void write_clamp(Call& c) {
  // A bound that is a tensor may have any shape, which Clip does not take.
  std::string x = argument_of(c);
  if (c.is_tensor(1) || c.is_tensor(2)) {
    if (c.has(1)) x = c.emit("Max", {x, c.operand(1, c.dtype())});
    if (c.has(2)) x = c.emit("Min", {x, c.operand(2, c.dtype())});
    return c.give(x);
  }
  clip(c, c.has(1) ? c.operand(1, c.dtype()) : "", c.has(2) ? c.operand(2, c.dtype()) : "");
}

void write_predicate(Call& c, const char* op) {
  if (!is_floating_point(c.value(0).dtype)) c.refuse("its tensor is of integers");
  c.give(c.emit(op, {c.in(0)}));
}

constexpr Rule kPointwise[] = {
    {"abs", same_operator<"Abs">},
    {"neg", same_operator<"Neg">},
    {"sign", same_operator<"Sign">},
    {"exp", same_operator<"Exp">},
    {"log", same_operator<"Log">},
    {"sqrt", same_operator<"Sqrt">},
    {"reciprocal", same_operator<"Reciprocal">},
    {"sin", same_operator<"Sin">},
    {"cos", same_operator<"Cos">},
    {"tan", same_operator<"Tan">},
    {"asin", same_operator<"Asin">},
    {"acos", same_operator<"Acos">},
    {"atan", same_operator<"Atan">},
    {"sinh", same_operator<"Sinh">},
    {"cosh", same_operator<"Cosh">},
    {"tanh", same_operator<"Tanh">},
    {"asinh", same_operator<"Asinh">},
    {"acosh", same_operator<"Acosh">},
    {"atanh", same_operator<"Atanh">},
    {"erf", same_operator<"Erf">},
    {"floor", same_operator<"Floor">},
    {"ceil", same_operator<"Ceil">},
    {"round", write_rounded},
    {"sigmoid", same_operator<"Sigmoid">},
    {"relu", same_operator<"Relu">},
    {"softsign", same_operator<"Softsign">},
    {"hardswish", same_operator<"HardSwish">},
    {"exp2", [](Call& c) { c.give(c.emit("Exp", {times(c, argument_of(c), std::numbers::ln2)})); }},
    {"expm1",
     [](Call& c) {
       c.give(c.emit("Sub", {c.emit("Exp", {argument_of(c)}), c.number(1, c.dtype())}));
     }},
    {"log2",
     [](Call& c) { c.give(times(c, c.emit("Log", {argument_of(c)}), std::numbers::log2e)); }},
    {"log10",
     [](Call& c) { c.give(times(c, c.emit("Log", {argument_of(c)}), std::numbers::log10e)); }},
    {"log1p",
     [](Call& c) {
       c.give(c.emit("Log", {c.emit("Add", {argument_of(c), c.number(1, c.dtype())})}));
     }},
    {"rsqrt", [](Call& c) { c.give(c.emit("Reciprocal", {c.emit("Sqrt", {argument_of(c)})})); }},
    {"square",
     [](Call& c) {
       c.give(c.emit("Mul", {argument_of(c), argument_of(c)}));
     }},
    {"trunc",
     [](Call& c) {
       const std::string x = argument_of(c);
       c.give(c.emit("Mul", {c.emit("Sign", {x}), c.emit("Floor", {c.emit("Abs", {x})})}));
     }},
    {"relu6", [](Call& c) { clip(c, c.number(0, c.dtype()), c.number(6, c.dtype())); }},
    {"hardtanh",
     [](Call& c) {
       clip(c, c.number(c.real(1, -1), c.dtype()), c.number(c.real(2, 1), c.dtype()));
     }},
    {"clamp", write_clamp},
    {"clamp_min", write_clamp},
    {"clamp_max",
     [](Call& c) {
       c.give(c.emit("Min", {argument_of(c), c.operand(1, c.dtype())}));
     }},
    {"leaky_relu",
     [](Call& c) {
       c.give(c.emit("LeakyRelu", {argument_of(c)}, {{"alpha", c.real(1, 0.01)}}));
     }},
    {"prelu", write_prelu},
    {"elu", write_elu},
    {"celu",
     [](Call& c) {
       c.give(c.emit("Celu", {argument_of(c)}, {{"alpha", c.real(1, 1)}}));
     }},
    {"selu", [](Call& c) { c.give(c.emit("Selu", {argument_of(c)})); }},
    {"gelu", write_gelu},
    {"silu",
     [](Call& c) {
       const std::string x = argument_of(c);
       c.give(c.emit("Mul", {x, sigmoid_of(c, x)}));
     }},
    {"mish", write_mish},
    {"softplus", [](Call& c) { c.give(softplus_of(c, argument_of(c), c.real(1, 1))); }},
    {"log_sigmoid",
     [](Call& c) {
       c.give(c.emit("Neg", {c.emit("Softplus", {c.emit("Neg", {argument_of(c)})})}));
     }},
    {"hardsigmoid",
     [](Call& c) {
       c.give(c.emit("HardSigmoid", {argument_of(c)}, {{"alpha", 1. / 6}, {"beta", 0.5}}));
     }},
    {"tanhshrink",
     [](Call& c) {
       const std::string x = argument_of(c);
       c.give(c.emit("Sub", {x, c.emit("Tanh", {x})}));
     }},
    {"softshrink",
     [](Call& c) {
       const double lambda = c.real(1, 0.5);
       c.give(c.emit("Shrink", {argument_of(c)}, {{"lambd", lambda}, {"bias", lambda}}));
     }},
    {"hardshrink",
     [](Call& c) {
       c.give(c.emit("Shrink", {argument_of(c)}, {{"lambd", c.real(1, 0.5)}}));
     }},
    {"threshold", write_threshold},
    {"glu", write_glu},
    {"isnan", [](Call& c) { write_predicate(c, "IsNaN"); }},
    {"isinf", [](Call& c) { write_predicate(c, "IsInf"); }},
    {"isfinite",
     [](Call& c) {
       if (!is_floating_point(c.value(0).dtype)) c.refuse("its tensor is of integers");
       const std::string x = c.in(0);
       c.give(c.emit("Not", {c.emit("Or", {c.emit("IsNaN", {x}), c.emit("IsInf", {x})})}));
     }},
    {"logical_not", [](Call& c) { c.give(c.emit("Not", {c.operand(0, kBool)})); }},
};

}  // namespace

std::span<const Rule> pointwise_rules() { return kPointwise; }

}  // namespace taeda::inline v0_2::onnx
