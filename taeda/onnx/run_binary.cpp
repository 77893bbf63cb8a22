// Operators of several tensors, element by element, and products.
#include "taeda/base/error.h"
#include "taeda/onnx/run.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/einsum.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::onnx {

namespace {

/// Two operands on one device: constants and sizes come to where the other one is.
std::pair<Tensor, Tensor> operands_of(const Run& r, size_t i = 0) {
  Tensor a = r.in(i), b = r.in(i + 1);
  if (a.device() != b.device())
    (a.is_cpu() ? a : b) = (a.is_cpu() ? a : b).to((a.is_cpu() ? b : a).device());
  return {a, b};
}

template <auto function>
void binary_operator(Run& r) {
  const auto [a, b] = operands_of(r);
  r.give(function(a, b));
}

/// Operators of any number of inputs.
template <auto function>
void chain(Run& r) {
  Tensor out = r.in(0);
  for (size_t i = 1; i < r.count(); ++i) out = function(out, r.in(i));
  r.give(out);
}

void run_div(Run& r) {
  const auto [a, b] = operands_of(r);
  // Integers are divided towards zero.
  r.give(is_floating_point(a.dtype()) ? a.div(b) : a.div(b, "trunc"));
}

void run_mod(Run& r) {
  const auto [a, b] = operands_of(r);
  r.give(r.integer("fmod", 0) != 0 ? fmod(a, b) : remainder(a, b));
}

void run_pow(Run& r) {
  const auto [a, b] = operands_of(r);
  r.give(a.pow(b).to(a.dtype()));
}

void run_mean_of_all(Run& r) {
  Tensor out = r.in(0);
  for (size_t i = 1; i < r.count(); ++i) out = out.add(r.in(i));
  r.give(out.div(static_cast<double>(r.count())));
}

void run_where(Run& r) {
  const auto [a, b] = operands_of(r, 1);
  r.give(where(r.in(0).to(a.device()), a, b));
}

void run_gemm(Run& r) {
  Tensor a = r.in(0), b = r.in(1);
  TAEDA_CHECK(a.dim() == 2 && b.dim() == 2, "it multiplies matrices, got sizes ", a.sizes(),
              " and ", b.sizes());
  if (r.integer("transA", 0) != 0) a = a.t();
  const bool transposed = r.integer("transB", 0) != 0;
  const double alpha = r.real("alpha", 1), beta = r.real("beta", 1);
  // A layer as Taeda runs it itself.
  if (transposed && alpha == 1 && beta == 1 && (!r.has(2) || r.in(2).dim() == 1))
    return r.give(linear(a, b, r.maybe(2)));
  Tensor out = matmul(a, transposed ? b.t() : b);
  if (alpha != 1) out = out.mul(alpha);
  if (r.has(2)) out = out.add(beta == 1 ? r.in(2) : r.in(2).mul(beta));
  r.give(out);
}

void run_einsum(Run& r) {
  std::vector<Tensor> operands;
  for (size_t i = 0; i < r.count(); ++i) operands.push_back(r.in(i));
  r.give(einsum(r.text("equation", ""), operands));
}

constexpr Operator kBinary[] = {
    {"Add", binary_operator<[](const Tensor& a, const Tensor& b) { return a.add(b); }>},
    {"Sub", binary_operator<[](const Tensor& a, const Tensor& b) { return a.sub(b); }>},
    {"Mul", binary_operator<[](const Tensor& a, const Tensor& b) { return a.mul(b); }>},
    {"Div", run_div},
    {"Mod", run_mod},
    {"Pow", run_pow},
    {"Max", chain<[](const Tensor& a, const Tensor& b) { return maximum(a, b); }>},
    {"Min", chain<[](const Tensor& a, const Tensor& b) { return minimum(a, b); }>},
    {"Sum", chain<[](const Tensor& a, const Tensor& b) { return a.add(b); }>},
    {"Mean", run_mean_of_all},
    {"Equal", binary_operator<[](const Tensor& a, const Tensor& b) { return a.eq(b); }>},
    {"Less", binary_operator<[](const Tensor& a, const Tensor& b) { return a.lt(b); }>},
    {"LessOrEqual", binary_operator<[](const Tensor& a, const Tensor& b) { return a.le(b); }>},
    {"Greater", binary_operator<[](const Tensor& a, const Tensor& b) { return a.gt(b); }>},
    {"GreaterOrEqual", binary_operator<[](const Tensor& a, const Tensor& b) { return a.ge(b); }>},
    {"And", binary_operator<[](const Tensor& a, const Tensor& b) { return a.logical_and(b); }>},
    {"Or", binary_operator<[](const Tensor& a, const Tensor& b) { return a.logical_or(b); }>},
    {"Xor", binary_operator<[](const Tensor& a, const Tensor& b) { return a.logical_xor(b); }>},
    {"BitwiseAnd",
     binary_operator<[](const Tensor& a, const Tensor& b) { return a.bitwise_and(b); }>},
    {"BitwiseOr",
     binary_operator<[](const Tensor& a, const Tensor& b) { return a.bitwise_or(b); }>},
    {"BitwiseXor",
     binary_operator<[](const Tensor& a, const Tensor& b) { return a.bitwise_xor(b); }>},
    {"Where", run_where},
    {"MatMul", binary_operator<[](const Tensor& a, const Tensor& b) { return matmul(a, b); }>},
    {"Gemm", run_gemm},
    {"Einsum", run_einsum},
};

}  // namespace

std::span<const Operator> binary_operators() { return kBinary; }

}  // namespace taeda::inline v0_2::onnx
