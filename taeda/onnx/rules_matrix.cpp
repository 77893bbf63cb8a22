// Products of matrices, and attention.
#include <cmath>
#include <limits>

#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

void write_matmul(Call& c) { c.give(c.emit("MatMul", {c.in(0), c.in(1)})); }

/// The last two of `rank` dimensions swapped.
std::string swapped(Call& c, const std::string& name, int64_t rank) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return c.transpose(name, order);
}

/// (input, weight, bias)
void write_linear(Call& c) {
  if (c.rank(1) != 2) {
    const std::string y = c.emit("MatMul", {c.in(0), c.in(1)});
    return c.give(c.has(2) ? c.emit("Add", {y, c.in(2)}) : y);
  }
  if (c.rank(0) == 2)
    return c.give(c.emit("Gemm", {c.in(0), c.in(1), c.in(2)}, {{"transB", int64_t{1}}}));
  const std::string y = c.emit("MatMul", {c.in(0), swapped(c, c.in(1), 2)});
  c.give(c.has(2) ? c.emit("Add", {y, c.in(2)}) : y);
}

/// (self, mat1, mat2, beta, alpha)
void write_addmm(Call& c) {
  c.give(c.emit("Gemm", {c.in(1), c.in(2), c.in(0)},
                {{"beta", c.real(3, 1)}, {"alpha", c.real(4, 1)}}));
}

/// (self, a, b, beta, alpha)
void write_added_product(Call& c) {
  std::string product = c.emit("MatMul", {c.in(1), c.in(2)}), added = c.in(0);
  if (c.real(4, 1) != 1) product = c.emit("Mul", {product, c.number(c.real(4), c.dtype())});
  if (c.real(3, 1) != 1) added = c.emit("Mul", {added, c.number(c.real(3), c.dtype())});
  c.give(c.emit("Add", {added, product}));
}

/// (equation, operands, path)
void write_einsum(Call& c) {
  Names inputs;
  for (const ValueId id : c.ids(1)) inputs.push_back(c.lowering().name_of(id));
  c.give(c.emit("Einsum", inputs, {{"equation", c.text(0)}}));
}

/// Scores of positions that may not be looked at become -inf.
std::string with_causal_mask(Call& c, const std::string& scores) {
  const std::vector<Size> q = c.sizes_of_argument(0), k = c.sizes_of_argument(1);
  const std::string shape = c.lowering().size_list({q[q.size() - 2], k[k.size() - 2]});
  const std::string all = c.emit("ConstantOfShape", {shape}, {{"value", ones({1}, kFloat)}});
  const std::string lower = c.emit("Trilu", {all}, {{"upper", int64_t{0}}});
  return c.emit("Where", {c.cast(lower, kFloat, kBool), scores,
                          c.number(-std::numeric_limits<double>::infinity(), c.dtype())});
}

/// (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
void write_attention(Call& c) {
  if (c.real(4) != 0) c.refuse("it drops weights by chance; export after eval()");
  if (c.flag(7)) c.refuse("heads share keys (enable_gqa); repeat them with repeat_interleave");
  const int64_t width = c.fixed_size(0, c.rank(0) - 1);
  const double scale = c.has(6) ? c.real(6) : 1 / std::sqrt(static_cast<double>(width));
  // Half of the scale on each side keeps 16-bit products small.
  const std::string root = c.number(std::sqrt(std::abs(scale)), c.dtype());
  const std::string q = c.emit("Mul", {c.in(0), root});
  const std::string k = c.emit("Mul", {swapped(c, c.in(1), c.rank(1)), root});
  std::string scores = c.emit("MatMul", {q, k});
  if (scale < 0) scores = c.emit("Neg", {scores});
  const bool masked = c.has(3) && c.value(3).dtype == kBool;
  if (c.flag(5)) scores = with_causal_mask(c, scores);
  if (masked)
    scores = c.emit(
        "Where", {c.in(3), scores, c.number(-std::numeric_limits<double>::infinity(), c.dtype())});
  else if (c.has(3))
    scores = c.emit("Add", {scores, c.operand(3, c.dtype())});
  std::string weights = c.emit("Softmax", {scores}, {{"axis", int64_t{-1}}});
  // A row that looks nowhere gives zeros.
  if (masked)
    weights = c.emit("Where", {c.emit("IsNaN", {weights}), c.number(0, c.dtype()), weights});
  c.give(c.emit("MatMul", {weights, c.in(2)}));
}

constexpr Rule kMatrices[] = {
    {"mm", write_matmul},
    {"mv", write_matmul},
    {"bmm", write_matmul},
    {"matmul", write_matmul},
    {"dot", write_matmul},
    {"linear", write_linear},
    {"addmm", write_addmm},
    {"addmv", write_added_product},
    {"baddbmm", write_added_product},
    {"einsum", write_einsum},
    {"scaled_dot_product_attention", write_attention},
};

}  // namespace

std::span<const Rule> matrix_rules() { return kMatrices; }

}  // namespace taeda::inline v0_2::onnx
