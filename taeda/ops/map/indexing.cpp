// Rules of indices that are tensors.
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/map/rules.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;
using Indices = std::vector<TensorIndex>;

bool is_tensor_index(const TensorIndex& i) { return i.kind() == TensorIndex::Kind::Tensor; }
bool is_mask(const TensorIndex& i) {
  return is_tensor_index(i) && (i.tensor().dtype() == kBool || i.tensor().dtype() == kByte);
}

/// What is known of the indices of one sample.
struct Shape {
  int64_t first = 0;     ///< dimensions of the result before those of the tensors
  int64_t block = 0;     ///< dimensions that the tensors give together
  bool together = true;  ///< nothing stands between them
  bool any = false, mapped = false, masks = false;
};

bool is_index_mapped(const TensorIndex& i, int level) {
  return is_tensor_index(i) && (mapped_levels(i.tensor()) >> level & 1);
}

Shape shape_of(ArrayRef<TensorIndex> indices, int level, int64_t dims) {
  Shape out;
  int64_t used = 0;
  for (const TensorIndex& i : indices)
    used += i.kind() == TensorIndex::Kind::NewAxis || i.kind() == TensorIndex::Kind::Rest ||
                    i.kind() == TensorIndex::Kind::Boolean
                ? 0
            : is_mask(i) ? i.tensor().dim()
                         : 1;
  bool ended = false;
  for (const TensorIndex& i : indices) {
    const bool tensor = is_tensor_index(i);
    if (tensor) {
      out.together &= !ended;
      out.any = true;
      out.mapped |= is_index_mapped(i, level);
      out.masks |= is_mask(i);
      out.block = std::max(out.block, is_mask(i) ? 1 : i.tensor().dim());
    } else if (i.kind() != TensorIndex::Kind::Integer) {
      ended |= out.any;
      if (!out.any) out.first += i.kind() == TensorIndex::Kind::Rest ? dims - used : 1;
    } else {
      ended |= out.any;
    }
  }
  return out;
}

bool has_bools(ArrayRef<TensorIndex> indices) {
  for (const TensorIndex& i : indices)
    if (i.kind() == TensorIndex::Kind::Boolean) return true;
  return false;
}

/// The same indices of all samples.
Indices behind_all(ArrayRef<TensorIndex> indices) {
  Indices out{TensorIndex(Slice())};
  out.insert(out.end(), indices.begin(), indices.end());
  return out;
}

/// The number of a sample is one more index, first: all tensors give [B, ...] together.
Indices with_numbers(MapCall& call, ArrayRef<TensorIndex> indices, int64_t block) {
  Indices out;
  DimVector shape(static_cast<size_t>(block) + 1, 1);
  shape[0] = call.samples;
  const Device device = call.tensor(0).device();
  out.emplace_back(arange(call.samples, TensorOptions(kLong).device(device)).reshape(shape));
  for (const TensorIndex& i : indices) {
    if (!is_index_mapped(i, call.level)) {
      out.push_back(i);
      continue;
    }
    Tensor t = lowered(i.tensor());
    MapOperand aligned{&t, true, t.dim() - 1};
    MapCall::align(aligned, block);
    out.emplace_back(std::move(t));
  }
  return out;
}

void refuse_mapped_masks(ArrayRef<TensorIndex> indices, int level) {
  for (const TensorIndex& i : indices)
    if (is_mask(i) && is_index_mapped(i, level))
      throw UnmappedError(
          "vmap: We do not support batching operators that can support dynamic shape. Attempting "
          "to batch over indexing with a boolean mask.");
}

bool index(MapCall& call) {
  if (!call.is(1, Kind::Indices)) return false;
  const ArrayRef<TensorIndex> indices = call.at<ArrayRef<TensorIndex>>(1);
  refuse_mapped_masks(indices, call.level);
  const Shape shape = shape_of(indices, call.level, call.operands[0].dims);
  if (!shape.mapped && (!shape.any || shape.together)) {
    call.at<ArrayRef<TensorIndex>>(1) = call.keep(behind_all(indices));
    call.results = call.run();
    return true;
  }
  if (has_bools(indices) || shape.masks) return false;
  for (const TensorIndex& i : indices)
    if (i.kind() == TensorIndex::Kind::Integer) return false;
  if (!call.operands[0].mapped) {
    // What all samples read needs no numbers.
    Indices plain(indices.begin(), indices.end());
    for (TensorIndex& i : plain) {
      if (!is_index_mapped(i, call.level)) continue;
      Tensor t = lowered(i.tensor());
      MapOperand aligned{&t, true, t.dim() - 1};
      MapCall::align(aligned, shape.block);
      i = TensorIndex(std::move(t));
    }
    call.at<ArrayRef<TensorIndex>>(1) = call.keep(std::move(plain));
    const Tensor out = call.run_one();
    call.results = {shape.together && shape.first ? out.movedim(shape.first, 0) : out};
    return true;
  }
  call.at<ArrayRef<TensorIndex>>(1) = call.keep(with_numbers(call, indices, shape.block));
  Tensor out = call.run_one();
  if (shape.together && shape.first > 0) {
    DimVector from, to;
    for (int64_t d = 0; d < shape.block; ++d) {
      from.push_back(1 + d);
      to.push_back(1 + shape.first + d);
    }
    out = out.movedim(from, to);
  }
  call.results = {out};
  return true;
}

bool index_put(MapCall& call) {
  if (!call.is(1, Kind::Indices)) return false;
  const ArrayRef<TensorIndex> indices = call.at<ArrayRef<TensorIndex>>(1);
  refuse_mapped_masks(indices, call.level);
  call.expand(*call.operand(0));
  const Shape shape = shape_of(indices, call.level, call.operands[0].dims);
  if (shape.mapped || (shape.any && !shape.together)) return false;
  Indices all = behind_all(indices);
  if (call.is_mapped(2)) {
    const int64_t dims = call.tensor(0).detach().index(ArrayRef<TensorIndex>(all)).dim() - 1;
    MapCall::align(*call.operand(2), dims);
    if (call.operand(2)->dims > dims) return false;
  }
  call.at<ArrayRef<TensorIndex>>(1) = call.keep(std::move(all));
  call.results = call.run();
  return true;
}

/// Indices of one dimension that differ between samples.
bool index_select(MapCall& call) {
  const int64_t dims = call.operand(0)->dims, count = call.operand(2)->dims;
  if (dims == 0) return false;
  if (!call.is_mapped(2)) return run_along(call, 1, dims);
  if (count > 1) return false;
  const int64_t dim = behind_samples(call.at<int64_t>(1), dims);
  call.expand_all();
  Tensor index = call.tensor(2);
  if (count == 0) index = index.unsqueeze(1);
  DimVector shape(static_cast<size_t>(dims) + 1, 1);
  shape[0] = call.samples;
  shape[static_cast<size_t>(dim)] = index.size(1);
  DimVector sizes(call.tensor(0).sizes());
  sizes[static_cast<size_t>(dim)] = index.size(1);
  call.results = {call.tensor(0).gather(dim, index.to(kLong).reshape(shape).expand(sizes))};
  return true;
}

/// A change along a dimension at the same indices of all samples.
bool at_indices(MapCall& call) {
  const int64_t dims = call.operand(0)->dims;
  if (call.is_mapped(2) || dims == 0 || call.is(3, Kind::Tensor)) {
    if (call.is_mapped(2) || dims == 0 || call.operand(3)->dims != dims) return false;
    call.expand(*call.operand(3));
  }
  call.expand(*call.operand(0));
  return run_along(call, 1, dims);
}

bool take_along_dim(MapCall& call) {
  const int64_t dims = call.operand(0)->dims;
  if (!call.at<OptionalDim>(2) || dims != call.operand(1)->dims || dims == 0) return false;
  call.expand_all();
  return run_along(call, 2, dims);
}

/// Places that are counted from where a sample begins; those that are counted from the beginning of
/// its memory are other ones for each.
bool as_strided_scatter(MapCall& call) { return !call.at<OptionalDim>(4) && by_parts(call); }

}  // namespace

void add_indexing(Table& table) {
  add(table, index, "index");
  add(table, index_put, "index_put");
  add(table, index_select, "index_select");
  add(table, at_indices, "index_add index_copy index_fill index_reduce");
  add(table, take_along_dim, "take_along_dim");
  add(table, as_strided_scatter, "as_strided_scatter");
}

}  // namespace taeda::inline v0_2::map_rules
