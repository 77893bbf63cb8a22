// Tensors that are made of nothing, where their sizes depend on an open axis; others are constants.
#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

void write_full(Call& c, const Scalar& value) {
  const std::string sizes = c.lowering().size_list(c.sizes_of(c.result()));
  c.give(c.emit("ConstantOfShape", {sizes}, {{"value", full({1}, value, c.dtype())}}));
}

void write_filled(Call& c, size_t i) {
  if (const Scalar* value = c.scalar(i)) return write_full(c, *value);
  c.give(
      c.emit("Expand", {c.operand(i, c.dtype()), c.lowering().size_list(c.sizes_of(c.result()))}));
}

/// arange(end), arange(start, end) or arange(start, end, step); options come last.
void write_arange(Call& c) {
  const size_t numbers = c.count() - 1;
  const bool whole = [&] {
    for (size_t i = 0; i < numbers; ++i)
      if (!c.scalar(i)->is_integral()) return false;
    return true;
  }();
  const ScalarType dtype = whole ? kLong : c.dtype();
  const std::string start = numbers == 1 ? c.number(0, dtype) : c.operand(0, dtype),
                    end = c.operand(numbers == 1 ? 0 : 1, dtype),
                    step = numbers == 3 ? c.operand(2, dtype) : c.number(1, dtype);
  c.give(c.cast(c.emit("Range", {start, end, step}), dtype, c.dtype()));
}

constexpr Rule kCreate[] = {
    {"zeros", [](Call& c) { write_full(c, 0); }},
    {"ones", [](Call& c) { write_full(c, 1); }},
    {"full", [](Call& c) { write_filled(c, 1); }},
    {"zeros_like", [](Call& c) { write_full(c, 0); }},
    {"ones_like", [](Call& c) { write_full(c, 1); }},
    {"full_like", [](Call& c) { write_filled(c, 1); }},
    {"new_zeros", [](Call& c) { write_full(c, 0); }},
    {"new_ones", [](Call& c) { write_full(c, 1); }},
    {"new_full", [](Call& c) { write_filled(c, 2); }},
    {"fill", [](Call& c) { write_filled(c, 1); }},
    {"arange", write_arange},
    {"scalar_tensor", [](Call& c) { c.give(c.operand(0, c.dtype())); }},
};

}  // namespace

std::span<const Rule> create_rules() { return kCreate; }

}  // namespace taeda::inline v0_2::onnx
