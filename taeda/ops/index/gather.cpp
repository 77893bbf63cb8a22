// Indexing along one dimension: whole rows (index_select, index_add, ...) and single elements
// (gather, scatter, masks).
#include "bodies/index.h"
#include "taeda/base/warning.h"
#include "taeda/kernels/index.h"
#include "taeda/ops/assign.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/create/stored.h"
#include "taeda/ops/destination.h"
#include "taeda/ops/dtype_words.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/iter.h"
#include "taeda/tensor/overlap.h"

namespace taeda::inline v0_2 {

using detail::in_place;

namespace {

/// The rows of a tensor along one dimension, for the row kernels.
struct Rows {
  Tensor block, offsets;

  /// `wraps`: negative indices count from the end.
  Rows(const char* op, const Tensor& self, int64_t dim, const Tensor& index, bool wraps = false) {
    TAEDA_CHECK_INDEX(index.dim() <= 1, op, "(): Index is supposed to be a vector");
    TAEDA_CHECK(index.dtype() == kLong || index.dtype() == kInt, op,
                "(): Expected dtype int32 or int64 for index");
    TAEDA_CHECK(index.device() == self.device(),
                "Expected all tensors to be on the same device, but "
                "found at least two devices, ",
                self.device(), " and ", index.device(),
                "! (when checking argument for argument index in method ", op, ")");
    const Tensor list = index.reshape({-1}).to(kLong);
    TAEDA_CHECK_INDEX(self.sizes()[dim] > 0 || list.numel() == 0, "index out of range in self");
    offsets = make_tensor(list.sizes(), kLong, self.device());
    const IndexTerm term{self.sizes()[dim], self.strides()[dim], wraps ? dim : -1, wraps, true};
    index_offsets_slot(self.device().type(), offsets, list, term);
    Layout layout = self.layout();
    layout.sizes.erase(static_cast<size_t>(dim));
    layout.strides.erase(static_cast<size_t>(dim));
    block = make_view(self, std::move(layout));
  }
};

/// self[index[i]] = or += source[i] along `dim`, without a record.
void put_rows(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
              const Tensor& source, bool accumulate, bool wraps = false) {
  NoGradGuard guard;
  const Tensor target = atleast_1d(self), values = atleast_1d(source);
  const Rows rows(op, target, dim, index, wraps);
  if (values.numel() == 0) return;
  TAEDA_INTERNAL_ASSERT(values.sizes()[dim] == index.numel() &&
                        values.numel() == index.numel() * rows.block.numel());
  index_put_slot(self.device().type(), rows.block, rows.offsets, values.movedim(dim, 0),
                 accumulate);
}

/// The sizes without dimension `dim`, with blanks between them.
std::string slice_sizes(const Tensor& t, int64_t dim) {
  std::string out;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (d != dim) out += (out.empty() ? "" : " ") + std::to_string(t.sizes()[d]);
  return out;
}

void check_source(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                  const Tensor& source) {
  check_same_device(op, {&self, &source});
  const bool adds = std::string_view(op) == "index_add_";
  TAEDA_CHECK(!adds || source.dtype() == self.dtype(), op, "(): self (", self.dtype(),
              ") and source (", source.dtype(), ") must have the same scalar type");
  TAEDA_CHECK(source.dtype() == self.dtype(), op,
              "(): self and source expected to have the same "
              "dtype, but got (self) ",
              to_string(self.dtype()), " and (source) ", to_string(source.dtype()));
  TAEDA_CHECK_INDEX(source.dim() == 0 || dim < source.dim(), op, "(): Indexing dim ", dim,
                    " is out of bounds of the source tensor with dim ", source.dim());
  const int64_t rows = source.dim() == 0 ? 1 : source.size(dim);
  if (index.numel() != rows) {
    const std::string text =
        detail::concat(op, "(): Number of indices (", index.numel(),
                       ") should be equal to source.size(dim): (", rows, "), for dim: ", dim);
    if (adds) throw Error(text);
    throw IndexError(text);
  }
  DimVector expected(self.sizes());
  if (expected.empty()) expected.push_back(rows);  // a number takes rows of one element
  expected[dim] = rows;
  const bool as_number = self.dim() == 0 || (!adds && source.dim() == 0);
  const bool fits =
      as_number ? source.numel() == product(expected) : source.sizes() == IntArrayRef(expected);
  TAEDA_CHECK(!adds || fits, "source tensor shape must match self tensor shape, excluding the ",
              "specified dimension. Got self.shape = ", self.sizes(),
              " source.shape = ", source.sizes());
  TAEDA_CHECK(fits, op, "(): Source/destination tensor must have same slice shapes. Destination ",
              "slice shape: ", slice_sizes(self, dim), " at dimension ", dim,
              " and source slice shape: ", slice_sizes(source, dim), " at dimension ", dim, ".");
}

}  // namespace

Tensor do_index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.is_sparse()) [[unlikely]]
    return detail::sparse_index_select(self, d, index);
  DimVector shape(self.sizes());
  TAEDA_CHECK_INDEX(!shape.empty() || index.numel() == 1,
                    "index_select(): Index to scalar can have only 1 value, got ", index.numel(),
                    " value(s)");
  if (!shape.empty()) shape[d] = index.numel();
  Tensor out =
      detail::make_result("index_select", {&self, &index}, shape, self.dtype(), self.device());
  {
    NoGradGuard guard;
    const Rows rows("index_select", atleast_1d(self), d, index);
    if (out.numel() > 0)
      index_get_slot(self.device().type(), atleast_1d(out).movedim(d, 0), rows.block, rows.offsets);
  }
  if (wants_grad(self))
    record("IndexSelectBackward0", out, {self},
           [sizes = DimVector(self.sizes()), d, index = save_tensor(index, "index")](
               const Tensor& g) { return g.new_zeros(sizes).index_add_(d, index.unpack(), g); });
  return out;
}

namespace {

/// The gradient of rows of `sizes` that were put at `index` of what g is the gradient of.
Tensor selected_rows(const Tensor& g, int64_t dim, const Tensor& index, const DimVector& sizes) {
  return atleast_1d(g).index_select(dim, index).reshape(sizes);
}

}  // namespace

Tensor do_index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                    const Scalar& alpha) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_source("index_add_", self, d, index, source);
  detail::check_number(self.dtype(), alpha);
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    put_rows("index_add", out, d, index, alpha.equal(1) ? source : source.mul(alpha), true);
  }
  if (wants_grad(self, source))
    record("IndexAddBackward0", out, {self, source},
           [d, alpha, index = save_if(source.requires_grad(), index, "index"),
            sizes = DimVector(source.sizes())](const Tensor& g, Needs needs) {
             Tensor rows;
             if (needs[1]) rows = selected_rows(g, d, index.unpack(), sizes);
             if (needs[1] && !alpha.equal(1)) rows = rows.mul(alpha);
             return TensorVec{g, rows};
           });
  return out;
}

Tensor& do_index_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                      const Scalar& alpha) {
  return in_place(
      "index_add_", self, wants_grad(self, source),
      [&](const Tensor& self) { return self.index_add(dim, index, source, alpha); },
      [&] {
        const int64_t d = wrap_dim(dim, self.dim());
        check_source("index_add_", self, d, index, source);
        detail::check_number(self.dtype(), alpha);
        check_no_internal_overlap(self);
        check_no_overlap(self, {&index, &source});
        put_rows("index_add", self, d, index, alpha.equal(1) ? source : source.mul(alpha), true);
      });
}

Tensor do_index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_source("index_copy_", self, d, index, source);
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    put_rows("index_copy", out, d, index, source, false);
  }
  if (wants_grad(self, source))
    record("IndexCopyBackward0", out, {self, source},
           [d, index = save_tensor(index, "index"), sizes = DimVector(source.sizes())](
               const Tensor& g, Needs needs) {
             const Tensor i = index.unpack();
             return TensorVec{needs[0] ? index_fill(g, d, i, 0) : Tensor(),
                              needs[1] ? selected_rows(g, d, i, sizes) : Tensor()};
           });
  return out;
}

Tensor& do_index_copy_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  return in_place(
      "index_copy_", self, wants_grad(self, source),
      [&](const Tensor& self) { return taeda::index_copy(self, dim, index, source); },
      [&] {
        const int64_t d = wrap_dim(dim, self.dim());
        check_source("index_copy_", self, d, index, source);
        check_no_internal_overlap(self);
        check_no_overlap(self, {&index, &source});
        put_rows("index_copy", self, d, index, source, false);
      });
}

namespace {

void fill_rows(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  TAEDA_CHECK(self.is_complex() || !value.is_complex(),
              "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  detail::check_reduced(value, self.dtype());
  DimVector sizes(self.sizes());
  if (sizes.empty()) sizes.push_back(1);
  sizes[dim] = index.numel();
  put_rows("index_fill", self, dim, index, full({}, value, self.options()).expand(sizes), false,
           true);
}

}  // namespace

Tensor do_index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = wrap_dim(dim, self.dim());
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    fill_rows(out, d, index, value);
  }
  if (wants_grad(self))
    record("IndexFillBackward0", out, {self},
           [d, index = save_tensor(index, "index")](const Tensor& g) {
             return index_fill(g, d, index.unpack(), 0);
           });
  return out;
}

Tensor do_index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  if (!wants_grad(value)) return index_fill(self, dim, index, value.item());
  DimVector rows(self.sizes());
  if (self.dim() > 0) rows[static_cast<size_t>(wrap_dim(dim, self.dim()))] = index.numel();
  return index_copy(self, dim, index, value.to(self.dtype()).expand(rows));
}

Tensor& do_index_fill_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return in_place(
      "index_fill_", self, wants_grad(self),
      [&](const Tensor& self) { return taeda::index_fill(self, dim, index, value); },
      [&] {
        detail::warn_of_expansion("index_fill_", self);
        check_no_overlap(self, {&index});
        fill_rows(self, wrap_dim(dim, self.dim()), index, value);
      });
}

namespace {

void check_gather(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                  bool self_bounds) {
  TAEDA_CHECK(index.numel() == 0 || index.dtype() == kLong || index.dtype() == kInt, op,
              "(): Expected dtype int32/int64 for index");
  TAEDA_CHECK(index.device() == self.device(),
              "Expected all tensors to be on the same device, but "
              "found at least two devices, ",
              self.device(), " and ", index.device(),
              "! (when checking argument for argument index in method ", op, ")");
  if (index.numel() == 0) return;
  const Tensor a = atleast_1d(self), b = atleast_1d(index);
  TAEDA_CHECK(a.dim() == b.dim(), "Index tensor must have the same number of dimensions as ",
              self_bounds ? "input" : "self", " tensor");
  for (int64_t d = 0; d < a.dim(); ++d)
    TAEDA_CHECK(d == dim || b.sizes()[d] <= a.sizes()[d], "Size does not match at dimension ", d,
                " expected index ", index.sizes(), " to be no larger than self ", self.sizes(),
                " apart from dimension ", dim);
}

void check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
                   const Tensor& src) {
  check_gather(op, self, dim, index, false);
  check_same_device(op, {&self, &src});
  TAEDA_CHECK(src.dtype() == self.dtype(), op, "(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  const Tensor a = atleast_1d(src), b = atleast_1d(index);
  TAEDA_CHECK(a.dim() == b.dim(),
              "Index tensor must have the same number of dimensions as src tensor");
  for (int64_t d = 0; d < a.dim(); ++d)
    TAEDA_CHECK(b.sizes()[d] <= a.sizes()[d], "Expected index ", index.sizes(),
                " to be smaller than src ", src.sizes(), " in all dimensions");
}

/// An index as kernels take it.
Tensor places(const Tensor& index) { return atleast_1d(index.to(kLong)); }

/// Writes src into self at index, without a record.
void scatter_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                  Meeting how) {
  if (index.numel() == 0) return;
  NoGradGuard guard;
  scatter_slot(self.device().type(), atleast_1d(self), places(index), atleast_1d(src), dim, how);
}

/// The part of `g` that belongs to src: all of g's rows that index names, with zeros for the
/// elements of src beyond index's sizes.
Tensor source_gradient(const Tensor& g, int64_t dim, const Tensor& index, const DimVector& sizes) {
  // An empty index has any number of dimensions, and one number stands for a list of it.
  if (index.numel() == 0) return g.new_zeros(sizes);
  Tensor part = g.gather(dim, index);
  if (part.dim() == 0 || sizes.empty()) part = part.reshape(DimVector(sizes.size(), 1));
  for (int64_t d = 0; d < part.dim(); ++d) {
    const int64_t missing = sizes[d] - part.sizes()[d];
    if (missing == 0) continue;
    DimVector wide(part.sizes());
    wide[d] = sizes[d];
    Tensor padded = part.new_zeros(wide);
    padded.narrow(d, 0, part.sizes()[d]).copy_(part);
    part = padded;
  }
  return part;
}

Tensor scalar_like(const Tensor& self, const Tensor& index, const Scalar& value) {
  detail::check_reduced(value, self.dtype());
  return full({}, value, self.options()).expand(index.sizes());
}

}  // namespace

Tensor do_gather(const Tensor& self, int64_t dim, const Tensor& index, bool /*sparse_grad*/) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_gather("gather", self, d, index, true);
  Tensor out =
      detail::make_result("gather", {&self, &index}, index.sizes(), self.dtype(), self.device());
  if (out.numel() > 0) {
    NoGradGuard guard;
    gather_slot(self.device().type(), atleast_1d(out), atleast_1d(self), places(index), d);
  }
  if (wants_grad(self))
    record("GatherBackward0", out, {self},
           [sizes = DimVector(self.sizes()), d, index = save_tensor(index, "index")](
               const Tensor& g) { return g.new_zeros(sizes).scatter_add_(d, index.unpack(), g); });
  return out;
}

Tensor do_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_scatter("scatter", self, d, index, src);
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    scatter_into(out, d, index, src, Meeting::Last);
  }
  if (wants_grad(self, src))
    record("ScatterBackward0", out, {self, src},
           [d, index = save_tensor(index, "index"), sizes = DimVector(src.sizes())](const Tensor& g,
                                                                                    Needs needs) {
             const Tensor i = index.unpack();
             return TensorVec{needs[0] ? g.scatter(d, i, 0) : Tensor(),
                              needs[1] ? source_gradient(g, d, i, sizes) : Tensor()};
           });
  return out;
}

Tensor do_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_gather("scatter", self, d, index, false);
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    scatter_into(out, d, index, scalar_like(self, index, value), Meeting::Last);
  }
  if (wants_grad(self))
    record("ScatterBackward1", out, {self},
           [d, index = save_tensor(index, "index")](const Tensor& g) {
             return g.scatter(d, index.unpack(), 0);
           });
  return out;
}

Tensor do_scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const int64_t d = wrap_dim(dim, self.dim());
  check_scatter("scatter_add", self, d, index, src);
  if (is_wide_unsigned(self.dtype()))
    return self.to(kLong).scatter_add(d, index, src.to(kLong)).to(self.dtype());
  Tensor out;
  {
    NoGradGuard guard;
    out = self.clone();
    scatter_into(out, d, index, src, Meeting::Sum);
  }
  if (wants_grad(self, src))
    record(
        "ScatterAddBackward0", out, {self, src},
        [d, index = save_if(src.requires_grad(), index, "index"), sizes = DimVector(src.sizes())](
            const Tensor& g, Needs needs) {
          return TensorVec{g, needs[1] ? source_gradient(g, d, index.unpack(), sizes) : Tensor()};
        });
  return out;
}

namespace {

std::string_view reduction_of(std::string_view reduce) {
  TAEDA_CHECK(reduce == "add" || reduce == "multiply",
              "reduce argument must be either add or multiply.");
  return reduce == "add" ? "sum" : "prod";
}

}  // namespace

Tensor do_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                  std::string_view reduce) {
  TAEDA_WARN_ONCE(
      "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a "
      "future PyTorch release. Use torch.scatter_reduce instead for more reduction options.");
  return scatter_reduce(self, dim, index, src, reduction_of(reduce));
}

Tensor do_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
                  std::string_view reduce) {
  return scatter_reduce(self, dim, index, full(index.sizes(), value, self.options()),
                        reduction_of(reduce));
}

Tensor& do_scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return in_place(
      "scatter_", self, wants_grad(self, src),
      [&](const Tensor& self) { return self.scatter(dim, index, src); },
      [&] {
        const int64_t d = wrap_dim(dim, self.dim());
        check_scatter("scatter", self, d, index, src);
        check_no_internal_overlap(self);
        check_no_overlap(self, {&index, &src});
        scatter_into(self, d, index, src, Meeting::Last);
      });
}

Tensor& do_scatter_(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return in_place(
      "scatter_", self, wants_grad(self),
      [&](const Tensor& self) { return self.scatter(dim, index, value); },
      [&] {
        const int64_t d = wrap_dim(dim, self.dim());
        check_gather("scatter", self, d, index, false);
        check_no_internal_overlap(self);
        check_no_overlap(self, {&index});
        scatter_into(self, d, index, scalar_like(self, index, value), Meeting::Last);
      });
}

Tensor& do_scatter_add_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return in_place(
      "scatter_add_", self, wants_grad(self, src),
      [&](const Tensor& self) { return self.scatter_add(dim, index, src); },
      [&] {
        const int64_t d = wrap_dim(dim, self.dim());
        check_scatter("scatter_add", self, d, index, src);
        check_no_internal_overlap(self);
        check_no_overlap(self, {&index, &src});
        if (is_wide_unsigned(self.dtype()))
          return void(self.copy_(self.scatter_add(d, index, src)));
        scatter_into(self, d, index, src, Meeting::Sum);
      });
}

namespace {

/// `indices` of the same number of dimensions as `self`; negative ones count from the end.
Tensor gather_along(const Tensor& self, const Tensor& indices, int64_t dim) {
  DimVector a(self.sizes()), b(indices.sizes());
  a[dim] = b[dim] = 1;
  DimVector shape = broadcast_sizes(a, b);
  shape[dim] = indices.sizes()[dim];
  const int64_t size = self.sizes()[dim];
  const Tensor index = indices.expand(shape);
  shape[dim] = size;
  return self.expand(shape).gather(dim, index.where(index.ge(0), index.add(size)));
}

}  // namespace

Tensor do_take_along_dim(const Tensor& self, const Tensor& indices, OptionalDim dim) {
  const bool are_indices = indices.dtype() == kLong || indices.dtype() == kInt;
  if (!dim) {
    TAEDA_CHECK(are_indices || indices.numel() == 0,
                "gather(): Expected dtype int32/int64 for index");
    return gather_along(self.reshape({-1}), indices.reshape({-1}), 0);
  }
  TAEDA_CHECK(self.dim() == indices.dim(),
              "torch.take_along_dim(): input and indices should have the "
              "same number of dimensions, but got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  TAEDA_CHECK(are_indices, "torch.take_along_dim(): dtype of indices should be Long but got ",
              to_string(indices.dtype()));
  return gather_along(self, indices, wrap_dim(*dim, self.dim()));
}

namespace {

void check_mask(const Tensor& self, const Tensor& mask, const Scalar* value) {
  TAEDA_CHECK(mask.dtype() == kBool,
              "masked_fill_ only supports boolean masks, but got mask with dtype ",
              detail::type_name(mask.dtype()));
  TAEDA_CHECK(mask.device() == self.device(),
              "expected self and mask to be on the same device, but got mask on ", mask.device(),
              " and self on ", self.device());
  if (value && value->is_complex()) detail::check_number(self.dtype(), *value);
}

void fill_masked(const Tensor& out, const Tensor& in, const Tensor& mask, const Scalar& value) {
  if (out.numel() == 0) return;
  NoGradGuard guard;
  if (out.dtype() == kComplexHalf) {  // its words are moved as they are
    const Tensor number = full({}, value, TensorOptions(kComplexHalf));
    return fill_masked(detail::as_words(out), detail::as_words(in), mask,
                       detail::as_words(number).item());
  }
  masked_fill_slot(out.device().type(), out, in.expand(out.sizes()), mask.expand(out.sizes()),
                   value);
}

}  // namespace

Tensor do_masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  check_mask(self, mask, &value);
  const DimVector shape = broadcast_sizes(self.sizes(), mask.sizes());
  Tensor out = IntArrayRef(shape) == self.sizes() ? empty_like(self) : empty(shape, self.options());
  fill_masked(out, self, mask, value);
  if (wants_grad(self))
    record("MaskedFillBackward0", out, {self}, [mask = save_tensor(mask, "mask")](const Tensor& g) {
      return g.masked_fill(mask.unpack(), 0);
    });
  return out;
}

Tensor do_masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  TAEDA_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got "
              "tensor with ",
              value.dim(), " dimension(s).");
  check_mask(self, mask, nullptr);
  Tensor out;
  {
    NoGradGuard guard;
    out = taeda::where(mask, value.to(self.device(), self.dtype()), self);
  }
  if (wants_grad(self, value))
    record("MaskedFillBackward1", out, {self, value},
           [mask = save_tensor(mask, "mask")](const Tensor& g, Needs needs) {
             const Tensor m = mask.unpack();
             return TensorVec{needs[0] ? g.masked_fill(m, 0) : Tensor(),
                              needs[1] ? g.masked_fill(m.logical_not(), 0).sum() : Tensor()};
           });
  return out;
}

Tensor& do_masked_fill_(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return in_place(
      "masked_fill_", self, wants_grad(self),
      [&](const Tensor& self) { return self.masked_fill(mask, value); },
      [&] {
        check_mask(self, mask, &value);
        detail::warn_of_expansion("masked_fill_", self);
        check_partial_overlap(self, mask);
        fill_masked(self, self, mask, value);
      });
}

Tensor& do_masked_fill_(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return in_place(
      "masked_fill_", self, wants_grad(self, value),
      [&](const Tensor& self) { return self.masked_fill(mask, value); },
      [&] {
        detail::warn_of_expansion("masked_fill_", self);
        check_partial_overlap(self, mask);
        self.copy_(self.masked_fill(mask, value));
      });
}

}  // namespace taeda::inline v0_2
