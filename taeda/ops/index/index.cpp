// Indexing with numbers, slices, masks and tensors; see Note [Rows] in kernels/index.h.
#include "taeda/ops/index/index.h"

#include "bodies/index.h"
#include "bodies/tensor_methods.h"
#include "taeda/autograd/record.h"
#include "taeda/base/warning.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

namespace {

using IndexList = SmallVector<Tensor, 4>;

/// Index tensors beside the tensor they index, after numbers, slices and None have been applied:
/// indices[d] is an int64 tensor for dimension d of `view`, or undefined.
struct Selection {
  Tensor view;
  IndexList indices;
  bool has_tensors() const {
    for (const Tensor& t : indices)
      if (t.defined()) return true;
    return false;
  }
};

bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kByte; }

/// Whether all tensors among them are masks.
bool only_masks(ArrayRef<TensorIndex> indices) {
  for (const TensorIndex& i : indices)
    if (i.kind() == TensorIndex::Kind::Tensor && !is_mask(i.tensor())) return false;
  return true;
}

/// Dimensions of the indexed tensor that one index uses up.
int64_t dims_used(const TensorIndex& i) {
  switch (i.kind()) {
    case TensorIndex::Kind::Integer:
    case TensorIndex::Kind::Slice: return 1;
    case TensorIndex::Kind::Tensor: return is_mask(i.tensor()) ? i.tensor().dim() : 1;
    default: return 0;
  }
}

/// Applies a list of indices from left to right.
class Parser {
 public:
  /// `fills`: masks say where one number goes.
  explicit Parser(const Tensor& self, ArrayRef<TensorIndex> list, bool fills = false)
      : self_(self), fills_(fills) {
    out_.view = self;
    int64_t used = 0, ellipses = 0;
    for (const TensorIndex& i : list) {
      used += dims_used(i);
      ellipses += i.kind() == TensorIndex::Kind::Rest;
    }
    TAEDA_CHECK_INDEX(used <= self.dim(), "too many indices for tensor of dimension ", self.dim());
    TAEDA_CHECK_INDEX(ellipses <= 1, "an index can only have a single ellipsis ('...')");
    left_ = self.dim() - used;
    for (const TensorIndex& i : list) apply(i);
  }
  Selection take() { return std::move(out_); }

 private:
  void apply(const TensorIndex& i) {
    switch (i.kind()) {
      case TensorIndex::Kind::NewAxis: out_.view = out_.view.unsqueeze(dim_++); break;
      case TensorIndex::Kind::Rest:
        dim_ += left_;
        source_dim_ += left_;
        break;
      case TensorIndex::Kind::Integer: apply_integer(i.integer()); break;
      case TensorIndex::Kind::Boolean: apply_boolean(i.boolean()); break;
      case TensorIndex::Kind::Slice: apply_slice(i.slice()); break;
      case TensorIndex::Kind::Tensor: apply_tensor(i.tensor()); break;
    }
  }
  void apply_integer(int64_t i) {
    const int64_t size = out_.view.sizes()[dim_];
    TAEDA_CHECK_INDEX(i >= -size && i < size, "index ", i, " is out of bounds for dimension ",
                      source_dim_, " with size ", size);
    out_.view = out_.view.select(dim_, i);
    ++source_dim_;
  }
  void apply_boolean(bool on) {
    out_.view = out_.view.unsqueeze(dim_);
    put(on ? zeros({1}, out_.view.options().dtype(kLong))
           : empty({0}, out_.view.options().dtype(kLong)));
  }
  void apply_slice(const Slice& s) {
    const bool whole = !s.start() && !s.stop() && s.step() == 1;
    if (!whole) out_.view = out_.view.slice(dim_, s.start(), s.stop(), s.step());
    ++dim_;
    ++source_dim_;
  }
  void apply_tensor(const Tensor& t) {
    if (is_mask(t)) return apply_mask(t);
    if (t.dim() == 0 && is_integral(t.dtype())) return apply_integer(t.item<int64_t>());
    TAEDA_CHECK_INDEX(t.dtype() == kLong || t.dtype() == kInt,
                      "tensors used as indices must be long, int, byte or bool tensors");
    check_device(t);
    put(t.to(out_.view.device(), kLong));
    ++source_dim_;
  }
  void check_device(const Tensor& index) const {
    const Device device = self_.device();
    TAEDA_CHECK(index.is_cpu() || index.device() == device,
                "indices should be either on cpu or on the same device as the indexed tensor (",
                device, "), but got one on ", index.device());
  }
  void apply_mask(const Tensor& mask) {
    if (mask.dim() == 0) return apply_boolean(mask.item<bool>());
    if (mask.dtype() == kByte && !fills_)
      TAEDA_WARN(
          "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
          "instead.");
    for (int64_t j = 0; j < mask.dim(); ++j)
      TAEDA_CHECK_INDEX(mask.sizes()[j] == out_.view.sizes()[dim_ + j], "The shape of the mask ",
                        mask.sizes(), " at index ", j,
                        " does not match the shape of the indexed tensor ", self_.sizes(),
                        " at index ", source_dim_ + j);
    check_device(mask);
    const Tensor coordinates = mask.nonzero().to(out_.view.device());
    for (int64_t j = 0; j < mask.dim(); ++j) put(coordinates.select(1, j));
    source_dim_ += mask.dim();
  }
  void put(Tensor index) {
    out_.indices.resize(static_cast<size_t>(dim_));
    out_.indices.push_back(std::move(index));
    ++dim_;
  }

  const Tensor& self_;
  const bool fills_;
  Selection out_;
  int64_t dim_ = 0;         // next dimension of out_.view
  int64_t source_dim_ = 0;  // next dimension of the tensor indexed
  int64_t left_ = 0;        // dimensions that an ellipsis stands for
};

/// The shapes of an advanced indexing operation.
struct Plan {
  DimVector picked;  // indexed dimensions of the tensor
  DimVector common;  // shape that the index tensors broadcast to
  size_t position;   // where `common` stands in the result
  DimVector rest;    // sizes that are not indexed
  DimVector result;  // rest with common inserted

  Plan(IntArrayRef sizes, const IndexList& indices) {
    bool adjacent = true;
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!indices[d].defined()) continue;
      adjacent &= picked.empty() || picked.back() + 1 == static_cast<int64_t>(d);
      picked.push_back(static_cast<int64_t>(d));
    }
    set_common(indices);
    // Index tensors side by side put their dimensions where they stand, others in front.
    position = adjacent ? static_cast<size_t>(picked[0]) : 0;
    for (size_t d = 0; d < sizes.size(); ++d)
      if (d >= indices.size() || !indices[d].defined()) rest.push_back(sizes[d]);
    for (size_t d = 0; d < position; ++d) result.push_back(rest[d]);
    for (int64_t s : common) result.push_back(s);
    for (size_t d = position; d < rest.size(); ++d) result.push_back(rest[d]);
  }

  /// A tensor of shape `result` as [number of indices, rest...].
  Tensor rows(const Tensor& t) const {
    const int64_t n = product(common);
    DimVector flat;
    for (size_t d = 0; d < position; ++d) flat.push_back(rest[d]);
    flat.push_back(n);
    for (size_t d = position; d < rest.size(); ++d) flat.push_back(rest[d]);
    return t.reshape(flat).movedim(static_cast<int64_t>(position), 0);
  }

  /// The block of `t` at index zero of every indexed dimension.
  Tensor block(const Tensor& t) const {
    Layout l = t.layout();
    for (size_t i = picked.size(); i-- > 0;) {
      l.sizes.erase(static_cast<size_t>(picked[i]));
      l.strides.erase(static_cast<size_t>(picked[i]));
    }
    return make_view(t, std::move(l));
  }

  /// Element offsets of the picked rows of `t`, from block(t).
  Tensor offsets(const Tensor& t, const IndexList& indices) const {
    Tensor out = make_tensor(common, kLong, t.device());
    bool first = true;
    for (int64_t d : picked) {
      TAEDA_CHECK_INDEX(t.sizes()[d] > 0 || out.numel() == 0,
                        "index is out of bounds for dimension with size 0");
      const IndexTerm term{t.sizes()[d], t.strides()[d], d, true, first};
      index_offsets_slot(t.device().type(), out, indices[d].expand(common), term);
      first = false;
    }
    return out;
  }

 private:
  void set_common(const IndexList& indices) {
    try {
      for (int64_t d : picked) common = broadcast_sizes(common, indices[d].sizes());
    } catch (const Error&) {
      std::string shapes;
      for (int64_t d : picked)
        shapes += (shapes.empty() ? "" : ", ") + detail::concat(indices[d].sizes());
      throw IndexError(
          "shape mismatch: indexing tensors could not be broadcast together with "
          "shapes " +
          shapes);
    }
  }
};

/// Index tensors kept for the backward pass.
using SavedIndices = SmallVector<autograd::Saved, 4>;

SavedIndices save_indices(const IndexList& indices) {
  SavedIndices out;
  for (const Tensor& t : indices) out.push_back(t.defined() ? save_tensor(t) : autograd::Saved());
  return out;
}

IndexList unpack(const SavedIndices& saved) {
  IndexList out;
  for (const autograd::Saved& s : saved) out.push_back(s.defined() ? s.unpack() : Tensor());
  return out;
}

/// self[indices] = or += values, without a record.
void put_rows(const Tensor& self, const IndexList& indices, const Tensor& values, bool accumulate) {
  NoGradGuard guard;
  const Plan plan(self.sizes(), indices);
  const Tensor offsets = plan.offsets(self, indices);
  if (product(plan.result) == 0) return;
  index_put_slot(self.device().type(), plan.block(self), offsets,
                 plan.rows(values.expand(plan.result)), accumulate);
}

Tensor get(const Tensor& self, const IndexList& indices);

/// Gradient of `get`: zeros of `sizes` with g added at the indices.
Tensor get_backward(const Tensor& g, const DimVector& sizes, const IndexList& indices) {
  Tensor out = zeros(sizes, g.options());
  put_rows(out, indices, g, true);
  if (wants_grad(g))
    record("IndexBackwardBackward0", out, {g},
           [saved = save_indices(indices)](const Tensor& gg) { return get(gg, unpack(saved)); });
  return out;
}

Tensor get(const Tensor& self, const IndexList& indices) {
  const Plan plan(self.sizes(), indices);
  Tensor out = make_tensor(plan.result, self.dtype(), self.device());
  {
    NoGradGuard guard;
    const Tensor offsets = plan.offsets(self, indices);
    if (out.numel() > 0)
      index_get_slot(self.device().type(), plan.rows(out), plan.block(self), offsets);
  }
  if (wants_grad(self))
    record("IndexBackward0", out, {self},
           [sizes = DimVector(self.sizes()), saved = save_indices(indices)](const Tensor& g) {
             return get_backward(g, sizes, unpack(saved));
           });
  return out;
}

/// g with zeros at the indices, differentiable.
Tensor zeroed_at(const Tensor& g, const IndexList& indices);

/// self[indices] = or += values, with its record.
void put_elements(const char* op, const Tensor& self, const IndexList& indices,
                  const Tensor& values, bool accumulate) {
  InplaceChange change(op, self, {self, values});
  put_rows(self, indices, values, accumulate);
  change.finish("IndexPutBackward0", [&] {
    return [saved = save_indices(indices), accumulate](const Tensor& g, Needs needs) {
      const IndexList indices = unpack(saved);
      return TensorVec{!needs[0]    ? Tensor()
                       : accumulate ? g
                                    : zeroed_at(g, indices),
                       needs[1] ? get(g, indices) : Tensor()};
    };
  });
}

Tensor zeroed_at(const Tensor& g, const IndexList& indices) {
  const Tensor out = g.clone();
  put_elements("index_put_", out, indices, zeros({}, g.options()), false);
  return out;
}

/// Values for an assignment may have leading dimensions of size 1 more than the place has.
Tensor without_leading_ones(const Tensor& values, size_t ndim) {
  Tensor out = values;
  while (out.dim() > static_cast<int64_t>(ndim) && out.sizes()[0] == 1) out = out.squeeze(0);
  return out;
}

void check_broadcasts(const Tensor& values, IntArrayRef to) {
  bool fits = values.dim() <= static_cast<int64_t>(to.size());
  for (int64_t i = 1; fits && i <= values.dim(); ++i) {
    const int64_t have = values.sizes()[values.dim() - i], want = to[to.size() - i];
    fits = have == want || have == 1;
  }
  TAEDA_CHECK(fits, "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", to);
}

}  // namespace

Tensor do_index(const Tensor& self, ArrayRef<TensorIndex> indices) {
  const Selection s = Parser(self, indices).take();
  if (s.has_tensors()) return get(s.view, s.indices);
  return s.view.is_same(self) ? self.view(self.sizes()) : s.view;
}

namespace {
void check_not_empty(std::initializer_list<TensorIndex> indices, const char* method) {
  TAEDA_CHECK_INDEX(indices.size() > 0, "Passing an empty index list to Tensor::", method,
                    "() is not valid syntax");
}
}  // namespace

Tensor do_index(const Tensor& self, std::initializer_list<TensorIndex> indices) {
  check_not_empty(indices, "index");
  return self.index(ArrayRef<TensorIndex>(indices));
}

Tensor Tensor::operator[](const Tensor& index) const { return this->index({index}); }

Tensor& do_index_put_(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                      bool accumulate) {
  check_inplace("index_put_", self, wants_grad(self, values));
  // How many elements a mask chooses is not known on meta, and does not matter for a number.
  if (self.is_meta() && !accumulate && values.dim() == 0 && indices.size() == 1 &&
      indices[0].kind() == TensorIndex::Kind::Tensor && is_mask(indices[0].tensor()) &&
      indices[0].tensor().sizes() == self.sizes())
    return self.masked_fill_(indices[0].tensor().to(kBool), values);
  const bool fills = !accumulate && values.numel() == 1 && only_masks(indices);
  const Selection s = Parser(self, indices, fills).take();
  if (!s.has_tensors()) {
    const Tensor source = without_leading_ones(values, s.view.sizes().size());
    if (accumulate)
      s.view.add_(source);
    else
      s.view.copy_(source);
    return const_cast<Tensor&>(self);
  }
  // One number through masks is masked_fill, which converts it.
  if (fills && values.is_cpu() && values.dtype() != self.dtype()) {
    if (values.is_complex()) detail::check_number(self.dtype(), values.item());
    return self.index_put_(indices, values.to(self.dtype()));
  }
  TAEDA_CHECK(values.dtype() == self.dtype(),
              "Index put requires the source and destination dtypes "
              "match, got ",
              to_string(self.dtype()), " for the destination and ", to_string(values.dtype()),
              " for the source.");
  const Plan plan(s.view.sizes(), s.indices);
  Tensor source = without_leading_ones(values, plan.result.size());
  check_broadcasts(source, plan.result);
  if (source.dim() == 0) source = source.to(self.device());
  TAEDA_CHECK(source.device() == self.device(),
              "expected all tensors to be on the same device, but "
              "values are on ",
              source.device(), " and self is on ", self.device(), " (index_put_)");
  detail::warn_of_expansion(fills ? "masked_fill_" : "index_put_", s.view);
  check_no_overlap(s.view, {&values});
  for (const Tensor& t : s.indices)
    if (t.defined()) check_no_overlap(s.view, {&t});
  put_elements("index_put_", s.view, s.indices, source, accumulate);
  return const_cast<Tensor&>(self);
}

Tensor& do_index_put_(const Tensor& self, std::initializer_list<TensorIndex> indices,
                      const Tensor& values, bool accumulate) {
  check_not_empty(indices, "index_put_");
  return self.index_put_(ArrayRef<TensorIndex>(indices), values, accumulate);
}

Tensor& do_index_put_(const Tensor& self, std::initializer_list<TensorIndex> indices,
                      const Scalar& value) {
  check_not_empty(indices, "index_put_");
  return self.index_put_(ArrayRef<TensorIndex>(indices), full({}, value, self.options()));
}

Tensor& do_index_put_(const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value) {
  return self.index_put_(indices, full({}, value, self.options()));
}

Tensor do_index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                    bool accumulate) {
  Tensor out = self.clone();
  out.index_put_(indices, values, accumulate);
  return out;
}

Tensor take(const Tensor& self, const Tensor& index) {
  TAEDA_CHECK(index.dtype() == kLong, "take(): Expected a long tensor for index, but got ",
              to_string(index.dtype()));
  check_same_device("take", {&self, &index});
  const Tensor flat = self.reshape({-1});
  const Tensor list = index.reshape({-1});
  return flat.index({list}).view(index.sizes());
}

Tensor do_masked_select(const Tensor& self, const Tensor& mask) {
  TAEDA_CHECK(mask.dtype() == kBool, "masked_select: expected BoolTensor for mask");
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  if (shape.empty()) return self.reshape({1}).index({mask.reshape({1})});
  return self.expand(shape).index({mask.expand(shape)});
}

Tensor do_nonzero(const Tensor& self) {
  const Tensor flat = self.contiguous();
  Tensor count = empty({1}, self.options().dtype(kLong));
  int64_t n = 0;
  if (self.numel() > 0) {
    nonzero_count_slot(self.device().type(), count, flat);
    n = count.item<int64_t>();
  }
  Tensor out = empty({n, self.dim()}, self.options().dtype(kLong));
  if (n > 0 && self.dim() > 0) nonzero_slot(self.device().type(), out, flat);
  return out;
}

std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return (self.dim() == 0 ? self.reshape({1}) : self).nonzero().unbind(1);
}

std::vector<Tensor> do_where(const Tensor& condition) { return nonzero_numpy(condition); }

}  // namespace taeda::inline v0_2
