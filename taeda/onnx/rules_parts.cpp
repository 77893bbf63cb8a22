// Parts of tensors, and tensors put together.
#include <limits>

#include "taeda/onnx/lower.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::onnx {

namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

void write_select(Call& c) {
  const std::string index = c.lowering().size_number(c.size(2));
  c.give(c.emit("Gather", {c.in(0), index}, {{"axis", c.dim(1, c.rank(0))}}));
}

void write_narrow(Call& c) {
  if (c.is_tensor(2)) c.refuse("its start is a tensor");
  const Size start = c.size(2), length = c.size(3);
  const int64_t dim = c.dim(1, c.rank(0));
  // The whole of a dimension.
  if (start.is_constant() && start.value == 0 &&
      length == c.sizes_of_argument(0)[static_cast<size_t>(dim)])
    return c.give(c.in(0));
  if (!start.is_constant() && !length.is_constant())
    c.refuse("its start and its length depend on open axes");
  Size end = start.is_constant() ? length : start;
  const int64_t more = start.is_constant() ? start.value : length.value;
  end.value += more;
  end.offset += more;
  c.give(c.slice(c.in(0), dim, start, end));
}

void write_slice(Call& c) {
  const Size start = c.has(2) ? c.size(2) : fixed(0), end = c.has(3) ? c.size(3) : fixed(kToTheEnd);
  const int64_t step = c.integer(4, 1);
  if (start.is_constant() && start.value == 0 && end.is_constant() && end.value == kToTheEnd &&
      step == 1)
    return c.give(c.in(0));
  c.give(c.slice(c.in(0), c.dim(1, c.rank(0)), start, end, step));
}

/// The results of a call along `dim`, whose sizes they have.
void give_parts(Call& c, int64_t dim) {
  const size_t n = c.traced().results.size();
  if (n == 1) return c.give(c.in(0));
  std::vector<Size> sizes;
  for (size_t k = 0; k < n; ++k) sizes.push_back(c.sizes_of(c.result(k))[static_cast<size_t>(dim)]);
  const Names names =
      c.emit_many("Split", {c.in(0), c.lowering().size_list(sizes)}, n, {{"axis", dim}});
  for (size_t k = 0; k < n; ++k) c.give(names[k], k);
}

void write_unbind(Call& c) {
  const int64_t dim = c.dim(1, c.rank(0));
  for (size_t k = 0; k < c.traced().results.size(); ++k)
    c.give(c.emit("Gather", {c.in(0), c.lowering().size_number(fixed(static_cast<int64_t>(k)))},
                  {{"axis", dim}}),
           k);
}

void write_cat(Call& c) {
  Names parts;
  const auto rank = static_cast<int64_t>(c.result_value().sizes.size());
  for (const ValueId id : c.ids(0)) {
    const TracedValue& v = c.lowering().value(id);
    // PyTorch leaves out empty vectors of any rank.
    if (static_cast<int64_t>(v.sizes.size()) != rank) continue;
    parts.push_back(c.cast(c.lowering().name_of(id), v.dtype, c.dtype()));
  }
  c.give(parts.size() == 1 ? parts[0] : c.emit("Concat", parts, {{"axis", c.dim(1, rank)}}));
}

void write_stack(Call& c) {
  const auto rank = static_cast<int64_t>(c.result_value().sizes.size());
  const int64_t dim = c.dim(1, rank);
  Names parts;
  for (const ValueId id : c.ids(0))
    parts.push_back(c.unsqueeze(
        c.cast(c.lowering().name_of(id), c.lowering().value(id).dtype, c.dtype()), {dim}));
  c.give(c.emit("Concat", parts, {{"axis", dim}}));
}

void write_index_select(Call& c) {
  c.give(c.emit("Gather", {c.in(0), c.in(2)}, {{"axis", c.dim(1, c.rank(0))}}));
}

void write_gather(Call& c) {
  c.give(c.emit("GatherElements", {c.in(0), c.in(2)}, {{"axis", c.dim(1, c.rank(0))}}));
}

void write_scatter(Call& c) {
  if (c.has(4)) c.refuse("it reduces what meets");
  if (!c.is_tensor(3)) c.refuse("it writes a number");
  c.give(c.emit("ScatterElements", {c.in(0), c.in(2), c.operand(3, c.dtype())},
                {{"axis", c.dim(1, c.rank(0))}}));
}

void write_embedding(Call& c) { c.give(c.emit("Gather", {c.in(0), c.in(1)})); }

void write_one_hot(Call& c) {
  const auto rank = static_cast<int64_t>(c.result_value().sizes.size());
  const std::vector<Size> sizes = c.sizes_of(c.result());
  if (!sizes.back().is_constant()) c.refuse("the number of classes is not fixed");
  const std::string depth = c.lowering().size_number(sizes.back());
  const std::string values = c.constant(tensor({int64_t{0}, int64_t{1}}, c.dtype()));
  c.give(c.emit("OneHot", {c.in(0), depth, values}, {{"axis", rank - 1}}));
}

/// Brackets: numbers, slices, None and dots one after the other, and one tensor of indices.
void write_index(Call& c) {
  const auto& indices = std::get<std::vector<TracedIndex>>(c.traced().arguments[1]);
  int64_t named = 0, dim = 0, tensors = 0;
  for (const TracedIndex& index : indices)
    named += index.kind == TensorIndex::Kind::Integer || index.kind == TensorIndex::Kind::Slice ||
             index.kind == TensorIndex::Kind::Tensor;
  std::string x = c.in(0);
  for (const TracedIndex& index : indices) {
    switch (index.kind) {
      case TensorIndex::Kind::NewAxis: x = c.unsqueeze(x, {dim++}); break;
      case TensorIndex::Kind::Rest: dim += c.rank(0) - named; break;
      case TensorIndex::Kind::Integer:
        x = c.emit("Gather", {x, c.lowering().size_number(fixed(index.integer))}, {{"axis", dim}});
        break;
      case TensorIndex::Kind::Slice:
        if (index.start || index.stop || index.step != 1)
          x = c.slice(x, dim, fixed(index.start.value_or(0)), fixed(index.stop.value_or(kToTheEnd)),
                      index.step);
        ++dim;
        break;
      case TensorIndex::Kind::Tensor: {
        const TracedValue& v = c.lowering().value(index.value);
        if (!is_integral(v.dtype)) c.refuse("a mask gives as many elements as it has true ones");
        if (++tensors > 1) c.refuse("several tensors stand between its brackets");
        x = c.emit("Gather", {x, c.lowering().name_of(index.value)}, {{"axis", dim}});
        dim += static_cast<int64_t>(v.sizes.size());
        break;
      }
      default: c.refuse("a bool stands between its brackets");
    }
  }
  c.give(x);
}

/// PyTorch lists pairs from the last dimension on, ONNX all beginnings and then all ends.
std::string pads_of(Call& c) {
  const std::vector<Size> pairs = c.sizes(1);
  const auto rank = static_cast<size_t>(c.rank(0));
  std::vector<Size> out(2 * rank, fixed(0));
  for (size_t i = 0; 2 * i < pairs.size(); ++i) {
    out[rank - 1 - i] = pairs[2 * i];
    out[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  return c.lowering().size_list(out);
}

void write_pad(Call& c) {
  // In the order of nn::PaddingMode.
  constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
  constexpr int64_t kCircular = 3, kWraps = 19;
  const int64_t mode = c.integer(2);
  if (mode == kCircular && c.opset() < kWraps)
    c.refuse("operator sets before 19 do not pad in a circle (ExportOptions::opset_version)");
  const bool is_bool = c.dtype() == kBool;  // which Pad does not take
  const ScalarType dtype = is_bool ? kByte : c.dtype();
  Names inputs{c.operand(0, dtype), pads_of(c)};
  if (mode == 0) inputs.push_back(c.number(c.real(3), dtype));
  const std::string out = c.emit("Pad", inputs, {{"mode", std::string(kModes[mode])}});
  c.give(c.cast(out, dtype, c.dtype()));
}

constexpr Rule kParts[] = {
    {"select", write_select},
    {"narrow", write_narrow},
    {"slice", write_slice},
    {"split", [](Call& c) { give_parts(c, c.dim(2, c.rank(0))); }},
    {"chunk", [](Call& c) { give_parts(c, c.dim(2, c.rank(0))); }},
    {"unbind", write_unbind},
    {"cat", write_cat},
    {"stack", write_stack},
    {"index_select", write_index_select},
    {"gather", write_gather},
    {"scatter", write_scatter},
    {"embedding", write_embedding},
    {"one_hot", write_one_hot},
    {"index", write_index},
    {"pad", write_pad},
};

}  // namespace

std::span<const Rule> part_rules() { return kParts; }

}  // namespace taeda::inline v0_2::onnx
