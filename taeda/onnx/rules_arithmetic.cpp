// Functions of several tensors, element by element.
#include "taeda/onnx/lower.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kHasBitwise = 18;

void binary(Call& c, const char* op, size_t a = 0, size_t b = 1) {
  c.give(c.emit(op, {c.operand(a, c.dtype()), c.operand(b, c.dtype())}));
}

/// Argument `i` times the factor in argument `k`, which is 1 unless given.
std::string scaled_operand(Call& c, size_t i, size_t k) {
  const std::string x = c.operand(i, c.dtype());
  if (!c.has(k) || c.real(k) == 1) return x;
  return c.emit("Mul", {x, c.operand(k, c.dtype())});
}

void write_sum(Call& c, const char* op) {
  if (c.dtype() == kBool) c.refuse("its operands are bool");
  c.give(c.emit(op, {c.operand(0, c.dtype()), scaled_operand(c, 1, 2)}));
}

void write_rsub(Call& c) {
  c.give(c.emit("Sub", {c.operand(1, c.dtype()), scaled_operand(c, 0, 2)}));
}

void write_div(Call& c) {
  const std::string mode = c.text(2);
  const std::string quotient = c.emit("Div", {c.operand(0, c.dtype()), c.operand(1, c.dtype())});
  if (mode.empty()) return c.give(quotient);
  if (!is_floating_point(c.dtype())) {
    // ONNX divides integers towards zero.
    if (mode == "trunc") return c.give(quotient);
    c.refuse("it rounds a quotient of integers down");
  }
  if (mode == "floor") return c.give(c.emit("Floor", {quotient}));
  const std::string size = c.emit("Floor", {c.emit("Abs", {quotient})});
  c.give(c.emit("Mul", {c.emit("Sign", {quotient}), size}));
}

void write_floor_divide(Call& c) {
  if (!is_floating_point(c.dtype())) c.refuse("it rounds a quotient of integers down");
  c.give(c.emit("Floor", {c.emit("Div", {c.operand(0, c.dtype()), c.operand(1, c.dtype())})}));
}

void write_remainder(Call& c) {
  const std::string a = c.operand(0, c.dtype()), b = c.operand(1, c.dtype());
  if (!is_floating_point(c.dtype())) return c.give(c.emit("Mod", {a, b}));
  const std::string whole = c.emit("Floor", {c.emit("Div", {a, b})});
  c.give(c.emit("Sub", {a, c.emit("Mul", {whole, b})}));
}

void write_pow(Call& c) {
  if (const Scalar* exponent = c.scalar(1);
      exponent && exponent->is_integral() && exponent->toLong() == 2 && !c.scalar(0)) {
    const std::string x = c.operand(0, c.dtype());
    return c.give(c.emit("Mul", {x, x}));
  }
  binary(c, "Pow");
}

void write_comparison(Call& c, const char* op) {
  ScalarType dtype = c.common_dtype({0, 1});
  // Equal takes bool, the others do not.
  if (dtype == kBool && std::string(op) != "Equal") dtype = kInt;
  c.give(c.emit(op, {c.operand(0, dtype), c.operand(1, dtype)}));
}

void write_not_equal(Call& c) {
  const ScalarType dtype = c.common_dtype({0, 1});
  c.give(c.emit("Not", {c.emit("Equal", {c.operand(0, dtype), c.operand(1, dtype)})}));
}

void write_logical(Call& c, const char* op) {
  c.give(c.emit(op, {c.operand(0, kBool), c.operand(1, kBool)}));
}

void write_bitwise(Call& c, const char* of_bools, const char* of_integers) {
  if (c.dtype() == kBool) return write_logical(c, of_bools);
  if (c.opset() < kHasBitwise) c.refuse("operator sets before 18 have no operator for integers");
  binary(c, of_integers);
}

void write_bitwise_not(Call& c) {
  if (c.dtype() == kBool) return c.give(c.emit("Not", {c.in(0)}));
  if (c.opset() < kHasBitwise) c.refuse("operator sets before 18 have no operator for integers");
  c.give(c.emit("BitwiseNot", {c.in(0)}));
}

void write_where(Call& c) {
  if (c.count() == 1) c.refuse("it gives as many indices as there are true elements");
  c.give(c.emit("Where", {c.operand(0, kBool), c.operand(1, c.dtype()), c.operand(2, c.dtype())}));
}

void write_masked_fill(Call& c) {
  c.give(c.emit("Where", {c.operand(1, kBool), c.operand(2, c.dtype()), c.in(0)}));
}

void write_lerp(Call& c) {
  const std::string start = c.in(0);
  const std::string way = c.emit("Sub", {c.in(1), start});
  c.give(c.emit("Add", {start, c.emit("Mul", {c.operand(2, c.dtype()), way})}));
}

void write_addc(Call& c, const char* op) {
  std::string term = c.emit(op, {c.operand(1, c.dtype()), c.operand(2, c.dtype())});
  if (c.has(3) && c.real(3) != 1) term = c.emit("Mul", {term, c.operand(3, c.dtype())});
  c.give(c.emit("Add", {c.operand(0, c.dtype()), term}));
}

constexpr Rule kArithmetic[] = {
    {"add", [](Call& c) { write_sum(c, "Add"); }},
    {"sub", [](Call& c) { write_sum(c, "Sub"); }},
    {"rsub", write_rsub},
    {"mul", [](Call& c) { c.dtype() == kBool ? write_logical(c, "And") : binary(c, "Mul"); }},
    {"div", write_div},
    {"floor_divide", write_floor_divide},
    {"remainder", write_remainder},
    {"fmod",
     [](Call& c) {
       c.give(c.emit("Mod", {c.operand(0, c.dtype()), c.operand(1, c.dtype())},
                     {{"fmod", int64_t{1}}}));
     }},
    {"pow", write_pow},
    {"maximum", [](Call& c) { binary(c, "Max"); }},
    {"minimum", [](Call& c) { binary(c, "Min"); }},
    {"lerp", write_lerp},
    {"addcmul", [](Call& c) { write_addc(c, "Mul"); }},
    {"addcdiv", [](Call& c) { write_addc(c, "Div"); }},
    {"eq", [](Call& c) { write_comparison(c, "Equal"); }},
    {"ne", write_not_equal},
    {"lt", [](Call& c) { write_comparison(c, "Less"); }},
    {"le", [](Call& c) { write_comparison(c, "LessOrEqual"); }},
    {"gt", [](Call& c) { write_comparison(c, "Greater"); }},
    {"ge", [](Call& c) { write_comparison(c, "GreaterOrEqual"); }},
    {"logical_and", [](Call& c) { write_logical(c, "And"); }},
    {"logical_or", [](Call& c) { write_logical(c, "Or"); }},
    {"logical_xor", [](Call& c) { write_logical(c, "Xor"); }},
    {"bitwise_and", [](Call& c) { write_bitwise(c, "And", "BitwiseAnd"); }},
    {"bitwise_or", [](Call& c) { write_bitwise(c, "Or", "BitwiseOr"); }},
    {"bitwise_xor", [](Call& c) { write_bitwise(c, "Xor", "BitwiseXor"); }},
    {"bitwise_not", write_bitwise_not},
    {"where", write_where},
    {"masked_fill", write_masked_fill},
};

}  // namespace

std::span<const Rule> arithmetic_rules() { return kArithmetic; }

}  // namespace taeda::inline v0_2::onnx
