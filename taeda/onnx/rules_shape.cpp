// The same elements in another shape or order, and copies.
#include <algorithm>
#include <limits>
#include <numeric>

#include "taeda/onnx/lower.h"

namespace taeda::inline v0_2::onnx {

namespace {

void same_value(Call& c) { c.give(c.in(0)); }

void write_reshape(Call& c) {
  c.give(c.reshape(c.in(0), c.sizes_of_argument(0), c.sizes_of(c.result())));
}

void write_view(Call& c) {
  if (c.is<ScalarType>(1)) {
    if (c.dtype() != c.value(0).dtype) c.refuse("it sees the bytes as another dtype");
    return same_value(c);
  }
  write_reshape(c);
}

std::vector<int64_t> identity_order(int64_t rank) {
  std::vector<int64_t> out(static_cast<size_t>(rank));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

void write_transpose(Call& c) {
  const int64_t rank = c.rank(0);
  if (rank < 2) return same_value(c);
  std::vector<int64_t> order = identity_order(rank);
  std::swap(order[static_cast<size_t>(c.dim(1, rank))], order[static_cast<size_t>(c.dim(2, rank))]);
  c.give(c.transpose(c.in(0), order));
}

void write_t(Call& c) {
  std::vector<int64_t> order = identity_order(c.rank(0));
  std::reverse(order.begin(), order.end());
  c.give(c.transpose(c.in(0), order));
}

void write_permute(Call& c) {
  std::vector<int64_t> order = c.integers(1);
  for (int64_t& d : order) d = wrap_dim(d, c.rank(0));
  c.give(c.transpose(c.in(0), order));
}

void write_movedim(Call& c) {
  const int64_t rank = c.rank(0);
  const std::vector<int64_t> source = c.integers(1), target = c.integers(2);
  std::vector<int64_t> order(static_cast<size_t>(rank), -1);
  std::vector<bool> taken(static_cast<size_t>(rank));
  for (size_t i = 0; i < source.size(); ++i) {
    order[static_cast<size_t>(wrap_dim(target[i], rank))] = wrap_dim(source[i], rank);
    taken[static_cast<size_t>(wrap_dim(source[i], rank))] = true;
  }
  int64_t next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (taken[static_cast<size_t>(next)]) ++next;
    d = next++;
  }
  c.give(c.transpose(c.in(0), order));
}

void write_unsqueeze(Call& c) { c.give(c.unsqueeze(c.in(0), {c.dim(1, c.rank(0) + 1)})); }

void write_squeeze(Call& c) {
  const std::vector<Size> sizes = c.sizes_of_argument(0);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < c.rank(0); ++d) {
    const Size& size = sizes[static_cast<size_t>(d)];
    const bool asked = c.count() == 1 || c.dim(1, c.rank(0)) == d;
    if (!asked || size.value != 1) continue;
    if (!size.is_constant()) c.refuse("whether an open axis disappears depends on its size");
    axes.push_back(d);
  }
  c.give(axes.empty() ? c.in(0) : c.squeeze(c.in(0), axes));
}

/// `name`, of the sizes `from`, repeated to the sizes `to`.
void expand_to(Call& c, const std::string& name, const std::vector<Size>& from,
               std::vector<Size> to) {
  if (from == to) return c.give(name);
  // A 1 keeps what is there.
  const size_t added = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (to[d + added] == from[d]) to[d + added] = fixed(1);
  c.give(c.emit("Expand", {name, c.lowering().size_list(to)}));
}

void write_expand(Call& c) {
  expand_to(c, c.in(0), c.sizes_of_argument(0), c.sizes_of(c.result()));
}

void write_copy(Call& c) {
  expand_to(c, c.operand(1, c.dtype()), c.sizes_of_argument(1), c.sizes_of(c.result()));
}

void write_to(Call& c) { c.give(c.cast(c.in(0), c.value(0).dtype, c.dtype())); }

/// `self` with as many dimensions in front as `repeats` has more.
void write_repeat(Call& c) {
  std::vector<Size> repeats = c.sizes(1), from = c.sizes_of_argument(0);
  std::string x = c.in(0);
  const size_t rank = std::max(repeats.size(), from.size());
  if (from.size() < rank) {
    std::vector<int64_t> axes = identity_order(static_cast<int64_t>(rank - from.size()));
    x = c.unsqueeze(x, axes);
  }
  repeats.insert(repeats.begin(), rank - repeats.size(), fixed(1));
  c.give(c.emit("Tile", {x, c.lowering().size_list(repeats)}));
}

void write_repeat_interleave(Call& c) {
  if (!c.is<int64_t>(1)) c.refuse("it has a number of repeats for each entry");
  std::vector<Size> from = c.sizes_of_argument(0);
  std::string x = c.in(0);
  if (!c.has(2)) {
    const std::vector<Size> flat = c.sizes_of(c.result());
    if (!flat[0].is_constant()) c.refuse("it flattens a tensor with an open axis");
    x = c.emit("Reshape", {x, c.ints({-1})});
    from = {fixed(flat[0].value / std::max<int64_t>(c.integer(1), 1))};
  }
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t dim = c.has(2) ? c.dim(2, rank) : 0;
  x = c.unsqueeze(x, {dim + 1});
  std::vector<int64_t> repeats(from.size() + 1, 1);
  repeats[static_cast<size_t>(dim) + 1] = c.integer(1);
  x = c.emit("Tile", {x, c.ints(repeats)});
  std::vector<Size> split = from;
  split.insert(split.begin() + dim + 1, fixed(c.integer(1)));
  c.give(c.reshape(x, split, c.sizes_of(c.result())));
}

void write_flip(Call& c) {
  std::string x = c.in(0);
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  for (const int64_t d : c.integers(1))
    x = c.slice(x, wrap_dim(d, c.rank(0)), fixed(-1), fixed(kFirst), -1);
  c.give(x);
}

void write_roll(Call& c) {
  const std::vector<int64_t> shifts = c.integers(1), dims = c.integers(2);
  if (dims.empty()) c.refuse("it rolls a flattened tensor");
  std::string x = c.in(0);
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], c.rank(0)), size = c.fixed_size(0, dim);
    const int64_t shift = size > 0 ? ((shifts[i] % size) + size) % size : 0;
    if (shift == 0) continue;
    const std::string back = c.slice(x, dim, fixed(size - shift), fixed(kLast)),
                      front = c.slice(x, dim, fixed(0), fixed(size - shift));
    x = c.emit("Concat", {back, front}, {{"axis", dim}});
  }
  c.give(x);
}

void write_triangle(Call& c, bool upper) {
  // Trilu of bools is missing in some runtimes.
  const bool is_bool = c.dtype() == kBool;
  const std::string x = is_bool ? c.cast(c.in(0), kBool, kFloat) : c.in(0);
  const std::string out = c.emit("Trilu", {x, c.lowering().size_number(fixed(c.integer(1)))},
                                 {{"upper", int64_t{upper}}});
  c.give(is_bool ? c.cast(out, kFloat, kBool) : out);
}

constexpr Rule kShapes[] = {
    {"view", write_view},
    {"reshape", write_reshape},
    {"flatten", write_reshape},
    {"unflatten", write_reshape},
    {"transpose", write_transpose},
    {"t", write_t},
    {"permute", write_permute},
    {"movedim", write_movedim},
    {"unsqueeze", write_unsqueeze},
    {"squeeze", write_squeeze},
    {"expand", write_expand},
    {"clone", same_value},  // these three are not even traced
    {"contiguous", same_value},
    {"detach", same_value},
    {"copy", write_copy},
    {"to", write_to},
    {"repeat", write_repeat},
    {"tile", write_repeat},
    {"repeat_interleave", write_repeat_interleave},
    {"flip", write_flip},
    {"roll", write_roll},
    {"tril", [](Call& c) { write_triangle(c, false); }},
    {"triu", [](Call& c) { write_triangle(c, true); }},
};

}  // namespace

std::span<const Rule> shape_rules() { return kShapes; }

}  // namespace taeda::inline v0_2::onnx
