// Sparse tensors are made, taken apart, coalesced and copied.
#include "taeda/ops/sparse/sparse.h"

#include <numeric>

#include "bodies/sparse.h"
#include "bodies/tensor_methods.h"
#include "taeda/base/checked_int.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

using detail::replace_parts, detail::sparse_keys, detail::value_sizes, detail::values_at,
    detail::values_of, detail::with_values;

namespace {

IntArrayRef sparse_sizes(const Tensor& t) {
  return t.sizes().slice(0, static_cast<size_t>(t.sparse_dim()));
}

void check_is_sparse(const char* op, const Tensor& t) {
  TAEDA_CHECK(t.is_sparse(), op, " expected sparse coordinate tensor layout but got ",
              detail::layout_name(t));
}

/// A dense tensor's elements as values: [all positions of the sparse dimensions, the others...].
Tensor as_values(const Tensor& dense, int64_t sparse_dim) {
  const int64_t n = product(dense.sizes().slice(0, static_cast<size_t>(sparse_dim)));
  return dense.reshape(value_sizes(dense.sizes(), sparse_dim, n));
}

/// Adds rows of `values`, bool ones by "or", to the rows `keys` of zeros of `sizes`.
Tensor summed(const Tensor& values, const Tensor& keys, IntArrayRef sizes) {
  if (values.dtype() == kBool) return summed(values.to(kByte), keys, sizes).ne(0);
  return zeros(sizes, values.options()).index_add_(0, keys, values);
}

}  // namespace

const char* detail::layout_name(const Tensor& t) {
  return t.is_strided() ? "Strided" : t.is_sparse() ? "Sparse" : "SparseCsr";
}

DimVector detail::value_sizes(IntArrayRef sizes, int64_t sparse_dim, int64_t n) {
  DimVector out{n};
  for (size_t d = static_cast<size_t>(sparse_dim); d < sizes.size(); ++d) out.push_back(sizes[d]);
  return out;
}

Tensor detail::sparse_keys(const Tensor& indices, IntArrayRef sizes) {
  const int64_t dims = indices.size(0);
  if (dims == 0) return zeros({indices.size(1)}, indices.options());
  Tensor keys = indices.select(0, 0);
  for (int64_t d = 1; d < dims; ++d)
    keys = keys.mul(Scalar(sizes[static_cast<size_t>(d)])).add(indices.select(0, d));
  return keys;
}

namespace {

/// The indices [dims, n] of positions in a row-major tensor whose first `dims` sizes are given.
Tensor indices_of(Tensor keys, IntArrayRef sizes, int64_t dims) {
  if (dims == 0) return make_tensor({0, keys.numel()}, kLong, keys.device());
  std::vector<Tensor> out(static_cast<size_t>(dims));
  for (int64_t d = dims - 1; d > 0; --d) {
    const Scalar size(std::max<int64_t>(sizes[static_cast<size_t>(d)], 1));
    out[static_cast<size_t>(d)] = keys.remainder(size);
    keys = keys.div(size, "floor");
  }
  out[0] = keys;
  return stack(out);
}

// ---- making ----

/// Throws Error unless each index lies within `sizes`; without sizes, unless none is negative, and
/// then gives the smallest sizes that hold them.
DimVector checked_sizes(const Tensor& indices, const IntArrayRef* sizes) {
  const int64_t dims = indices.size(0);
  DimVector out(static_cast<size_t>(dims), 0);
  if (indices.numel() == 0 || indices.is_meta()) return out;
  const Tensor lowest = indices.amin({1}).cpu(), highest = indices.amax({1}).cpu();
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t low = lowest.data_ptr<int64_t>()[d], high = highest.data_ptr<int64_t>()[d];
    TAEDA_CHECK(low >= 0, "found negative index ", low, " for dim ", d);
    out[static_cast<size_t>(d)] = (CheckedInt(high) + 1).value("sparse_coo_tensor");
    if (!sizes) continue;
    const int64_t size = (*sizes)[static_cast<size_t>(d)];
    TAEDA_CHECK(high < size, "size is inconsistent with indices: for dim ", d, ", size is ", size,
                " but found index ", high);
  }
  return out;
}

void check_parts(const Tensor& indices, const Tensor& values) {
  TAEDA_CHECK(is_integral(indices.dtype()) || is_floating_point(indices.dtype()),
              "indices must be an integer tensor, but got ", to_string(indices.dtype()));
  TAEDA_CHECK(indices.dim() == 2, "indices must be sparse_dim x nnz, but got: ", indices.sizes());
  const int64_t nnz = values.dim() == 0 ? 1 : values.size(0);
  TAEDA_CHECK(indices.size(1) == nnz,
              "indices and values must have same nnz, but got nnz from indices: ", indices.size(1),
              ", nnz from values: ", nnz);
}

void check_sizes_fit(const Tensor& indices, const Tensor& values, IntArrayRef size) {
  const int64_t dims = indices.size(0), dense = values.dim() - 1;
  TAEDA_CHECK(static_cast<int64_t>(size.size()) == dims + dense,
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", dims, ", dense_dim = ", dense);
  const DimVector expected = value_sizes(size, dims, values.size(0));
  TAEDA_CHECK(values.sizes() == IntArrayRef(expected), "values has incorrect size, expected ",
              IntArrayRef(expected), ", got ", values.sizes());
}

/// The parts as the options and the rules of a sparse tensor want them.
struct Given {
  Tensor indices, values;
  Given(const Tensor& i, const Tensor& v, const TensorOptions& o) : indices(i), values(v) {
    check_parts(i, v);
    TAEDA_CHECK(o.layout() == kSparse || !o.has_layout(),
                "expected sparse layout, but got layout Strided");
    const Device device = o.has_device() ? resolve(o.device()) : v.device();
    TAEDA_CHECK(i.device() == v.device() || o.has_device(), "backend of indices (", i.device(),
                ") must match backend of values (", v.device(), ")");
    values = values.to(device, o.dtype_or(v.dtype()));
    if (values.dim() == 0) values = values.unsqueeze(0);
    NoGradGuard guard;
    indices = indices.detach().to(device, kLong);
  }
};

}  // namespace

Tensor detail::with_values(const Tensor& indices, const Tensor& values, IntArrayRef sizes,
                           bool coalesced) {
  Tensor out = make_sparse(indices, values, sizes, coalesced);
  if (wants_grad(values))
    record("SparseCooTensorWithDimsAndTensorsBackward0", out, {values},
           [indices = save_tensor(make_alias(indices), "indices")](const Tensor& g) {
             return values_at(g, indices.unpack());
           });
  return out;
}

Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                 const TensorOptions& options, std::optional<bool> is_coalesced) {
  const Given given(indices, values, options);
  check_sizes_fit(given.indices, given.values, size);
  return detail::finish(
      with_values(given.indices, given.values, size, is_coalesced.value_or(false)), options);
}

Tensor do_sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size,
                            const TensorOptions& options, std::optional<bool> is_coalesced) {
  const Given given(indices, values, options);
  check_sizes_fit(given.indices, given.values, size);
  checked_numel(size);
  checked_sizes(given.indices, &size);
  return detail::finish(
      with_values(given.indices, given.values, size, is_coalesced.value_or(false)), options);
}

Tensor do_sparse_coo_tensor(const Tensor& indices, const Tensor& values,
                            const TensorOptions& options, std::optional<bool> is_coalesced) {
  const Given given(indices, values, options);
  DimVector size = checked_sizes(given.indices, nullptr);
  for (int64_t d = 1; d < given.values.dim(); ++d) size.push_back(given.values.size(d));
  return detail::finish(
      with_values(given.indices, given.values, size, is_coalesced.value_or(false)), options);
}

Tensor do_sparse_coo_tensor(IntArrayRef size, const TensorOptions& options) {
  return detail::sparse_empty(size, options);
}

namespace {

/// Without elements, and with `sparse_dim` dimensions that would have indices.
Tensor without_elements(IntArrayRef sizes, int64_t sparse_dim, ScalarType dtype, Device device) {
  return make_sparse(make_tensor({sparse_dim, 0}, kLong, device),
                     make_tensor(value_sizes(sizes, sparse_dim, 0), dtype, device), sizes, true);
}

}  // namespace

Tensor detail::sparse_empty(IntArrayRef sizes, const TensorOptions& o) {
  if (o.is_sparse_csr()) return csr_empty(sizes, o);
  checked_numel(sizes);
  const auto dims = static_cast<int64_t>(sizes.size());
  return finish(without_elements(sizes, dims, o.dtype(), detail::device_of(o)), o);
}

// ---- parts ----

int64_t Tensor::sparse_dim() const {
  if (is_sparse_csr()) return 2;
  return is_sparse() ? sparse_parts(*this).indices.size(0) : 0;
}
int64_t Tensor::dense_dim() const { return dim() - sparse_dim(); }

int64_t Tensor::_nnz() const {
  if (!is_sparse_csr()) check_is_sparse("_nnz", *this);
  return stored_values(*this).size(0);
}

bool Tensor::is_coalesced() const {
  check_is_sparse("is_coalesced", *this);
  return sparse_parts(*this).coalesced;
}

Tensor& Tensor::_coalesced_(bool coalesced) const {
  check_is_sparse("_coalesced_", *this);
  sparse_parts(*this).coalesced = coalesced;
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::_indices() const {
  check_is_sparse("_indices", *this);
  return make_alias(sparse_parts(*this).indices);
}

Tensor Tensor::_values() const {
  check_is_sparse("_values", *this);
  return make_alias(sparse_parts(*this).values);
}

Tensor Tensor::indices() const {
  check_is_sparse("indices", *this);
  TAEDA_CHECK(is_coalesced(),
              "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return _indices();
}

Tensor Tensor::values() const {
  if (is_sparse_csr()) return values_of(*this);
  check_is_sparse("values", *this);
  TAEDA_CHECK(is_coalesced(),
              "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return values_of(*this);
}

Tensor detail::values_of(const Tensor& coalesced) {
  if (coalesced.is_sparse_csr()) return csr_values_of(coalesced);
  const SparseParts& parts = sparse_parts(coalesced);
  Tensor out = make_alias(parts.values);
  if (wants_grad(coalesced))
    record("ValuesBackward0", out, {coalesced},
           [indices = save_tensor(make_alias(parts.indices), "indices"),
            sizes = DimVector(coalesced.sizes())](const Tensor& g) {
             return with_values(indices.unpack(), g, sizes, true);
           });
  return out;
}

namespace {

/// Those elements of a coalesced tensor that have one of `keys`, and zeros for the others.
Tensor looked_up(const Tensor& coalesced, const Tensor& keys) {
  const Tensor values = values_of(coalesced);
  const int64_t nnz = values.size(0);
  const DimVector wanted = value_sizes(values.sizes(), 1, keys.numel());
  if (nnz == 0) return zeros(wanted, values.options());
  const Tensor own = sparse_keys(sparse_parts(coalesced).indices, coalesced.sizes());
  const Tensor at = searchsorted(own, keys).clamp_max(nnz - 1);
  DimVector column(wanted.size(), 1);
  column[0] = keys.numel();
  const Tensor found = own.index_select(0, at).eq(keys).view(column);
  return values.index_select(0, at).masked_fill(found.logical_not(), 0);
}

}  // namespace

Tensor detail::values_at(const Tensor& t, const Tensor& indices) {
  if (t.is_sparse_csr()) return values_at(csr_to_coo(t), indices);
  const int64_t dims = indices.size(0);
  if (!t.is_sparse()) return as_values(t, dims).index_select(0, sparse_keys(indices, t.sizes()));
  if (t.sparse_dim() != dims) return values_at(t.to_dense(), indices);
  const Tensor coalesced = t.coalesce();
  const Tensor& own = sparse_parts(coalesced).indices;
  const bool same = own.is_alias_of(indices) && own.layout() == indices.layout();
  return same ? values_of(coalesced) : looked_up(coalesced, sparse_keys(indices, t.sizes()));
}

Tensor do_coalesce(const Tensor& self) {
  check_is_sparse("coalesce", self);
  const SparseParts& parts = sparse_parts(self);
  if (parts.coalesced) return self;
  Tensor out;
  {
    NoGradGuard guard;
    if (parts.values.size(0) < 2) {
      out = make_sparse(parts.indices, parts.values, self.sizes(), true);
    } else {
      const auto [keys, to, counts] = unique(sparse_keys(parts.indices, self.sizes()), true);
      out = make_sparse(
          indices_of(keys, self.sizes(), self.sparse_dim()),
          summed(parts.values, to, value_sizes(self.sizes(), self.sparse_dim(), keys.numel())),
          self.sizes(), true);
    }
  }
  if (wants_grad(self)) record("CoalesceBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

// ---- dense and sparse ----

Tensor do_to_sparse(const Tensor& self) {
  if (self.is_sparse_csr()) return detail::csr_to_coo(self);
  return self.is_sparse() ? self : self.to_sparse(self.dim());
}

Tensor do_to_sparse(const Tensor& self, int64_t sparse_dim) {
  if (self.is_sparse_csr()) {
    TAEDA_CHECK(sparse_dim == 2,
                "sparse_compressed_to_sparse: conversion from SparseCsr to Sparse with sparse_dim "
                "argument !=2 is not supported");
    return detail::csr_to_coo(self);
  }
  if (self.is_sparse()) {
    TAEDA_CHECK(
        sparse_dim == self.sparse_dim(),
        "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_"
        "dim() is not supported");
    return self;
  }
  TAEDA_CHECK(sparse_dim >= 0 && sparse_dim <= self.dim(),
              "dense_to_sparse: sparse_dim argument must be in [0,", self.dim(), "] range, but ",
              sparse_dim, " is given");
  TAEDA_CHECK(sparse_dim > 0 || self.dim() == 0,
              "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
  const Tensor values = as_values(self, sparse_dim);
  Tensor keys;
  {
    NoGradGuard guard;
    Tensor there = values.detach().ne(0);
    if (there.dim() > 1) there = there.flatten(1).any(1);
    keys = there.nonzero().flatten();
  }
  return with_values(indices_of(keys, self.sizes(), sparse_dim), values.index_select(0, keys),
                     self.sizes(), true);
}

Tensor do_to_dense(const Tensor& self, OptionalDtype dtype) {
  if (self.is_strided()) return dtype ? self.to(*dtype) : self;
  if (self.is_sparse_csr()) return detail::csr_to_coo(self).to_dense(dtype);
  if (dtype && *dtype != self.dtype()) return self.to(*dtype).to_dense();
  const SparseParts& parts = sparse_parts(self);
  Tensor out;
  {
    NoGradGuard guard;
    const int64_t n = product(sparse_sizes(self));
    out = summed(parts.values, sparse_keys(parts.indices, self.sizes()),
                 value_sizes(self.sizes(), self.sparse_dim(), n));
    out = out.view(self.sizes()).detach();  // no view of what nobody sees
  }
  if (wants_grad(self))
    record("ToDenseBackward0", out, {self}, [self = save_tensor(self)](const Tensor& g) {
      return g.sparse_mask(self.unpack().detach().coalesce());
    });
  return out;
}

Tensor Tensor::sparse_mask(const Tensor& mask) const {
  if (!mask.is_sparse_csr()) check_is_sparse("sparse_mask", mask);
  TAEDA_CHECK(mask.sizes() == sizes(),
              "sparse_mask(): operands have incompatible sizes; self has "
              "size ",
              sizes(), " but mask has size ", mask.sizes());
  if (mask.is_sparse_csr()) return detail::csr_mask(*this, mask);
  const SparseParts& parts = sparse_parts(mask);
  return with_values(parts.indices, values_at(*this, parts.indices), sizes(), parts.coalesced);
}

// ---- copies ----

Tensor detail::sparse_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking) {
  if (self.is_sparse_csr()) return csr_to(self, device, dtype, non_blocking);
  const SparseParts& parts = sparse_parts(self);
  Tensor out = make_sparse(parts.indices.to(device, kLong, non_blocking, true),
                           parts.values.to(device, dtype, non_blocking, true), self.sizes(),
                           parts.coalesced);
  if (wants_grad(self))
    record("ToCopyBackward0", out, {self},
           [from = self.device()](const Tensor& g) { return g.to(from, g.dtype()); });
  return out;
}

Tensor detail::sparse_clone(const Tensor& self) {
  if (self.is_sparse_csr()) {
    const CsrParts& parts = csr_parts(self);
    Tensor out = make_sparse_csr(parts.rows.clone(), parts.columns.clone(), parts.values.clone(),
                                 self.sizes(), parts.sorted);
    if (wants_grad(self)) record("CloneBackward0", out, {self}, [](const Tensor& g) { return g; });
    return out;
  }
  const SparseParts& parts = sparse_parts(self);
  Tensor out =
      make_sparse(parts.indices.clone(), parts.values.clone(), self.sizes(), parts.coalesced);
  if (wants_grad(self)) record("CloneBackward0", out, {self}, [](const Tensor& g) { return g; });
  return out;
}

void detail::replace_parts(const Tensor& self, const Tensor& by) {
  if (self.is_sparse_csr()) return replace_csr_parts(self, by);
  const SparseParts& from = sparse_parts(by);
  SparseParts& to = sparse_parts(self);
  to.indices = from.indices.to(self.device());
  to.values = from.values.to(self.device(), self.dtype());
  to.coalesced = from.coalesced;
}

Tensor& detail::sparse_copy_(const Tensor& self, const Tensor& source) {
  const auto kind = [](const Tensor& t) { return t.is_strided() ? "dense" : "sparse"; };
  TAEDA_CHECK(!self.is_sparse_csr() || source.is_sparse_csr(),
              "torch.copy_: copy of sparse compressed tensors having different layouts is not "
              "supported. self layout is SparseCsr and src layout is ",
              layout_name(source));
  TAEDA_CHECK(!self.is_sparse() || !source.is_sparse_csr(),
              "copy_: expected a source with indices, but its layout is SparseCsr");
  TAEDA_CHECK(!self.is_strided() && !source.is_strided(),
              "copy_() between dense and sparse Tensors is not implemented! Found self type = ",
              kind(self), " ", self.dtype(), " and src type = ", kind(source), " ", source.dtype());
  TAEDA_CHECK(self.sizes() == source.sizes(), "copy_: expected sizes of a sparse source to be ",
              self.sizes(), ", but got ", source.sizes());
  InplaceChange change("copy_", self, {self, source});
  {
    NoGradGuard guard;
    replace_parts(self, source.is_same(self) ? source : source.detach().clone());
  }
  change.finish("CopyBackwards", [&] {
    return [from = source.device()](const Tensor& g, Needs needs) {
      return TensorVec{needs[0] ? sparse_empty(g.sizes(), g.options()) : Tensor(),
                       needs[1] ? g.to(from) : Tensor()};
    };
  });
  return const_cast<Tensor&>(self);
}

Tensor& detail::sparse_zero_(const Tensor& self) {
  InplaceChange change("zero_", self, {self});
  replace_parts(self, self.is_sparse_csr() ? csr_empty(self.sizes(), self.options())
                                           : without_elements(self.sizes(), self.sparse_dim(),
                                                              self.dtype(), self.device()));
  change.finish("ZeroBackward0", [] {
    return [](const Tensor& g) { return sparse_empty(g.sizes(), g.options()); };
  });
  return const_cast<Tensor&>(self);
}

// ---- other sizes ----

namespace {

void check_dims(IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  TAEDA_CHECK(sparse_dim + dense_dim == static_cast<int64_t>(size.size()),
              "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ", size.size(),
              ", sparse_dim = ", sparse_dim, ", dense_dim = ", dense_dim);
  TAEDA_CHECK(sparse_dim >= 0 && dense_dim >= 0,
              "sparse and dense dimensions must be non-negative, but got ", sparse_dim, " and ",
              dense_dim);
}

void check_resizable(const char* op, const Tensor& t) {
  check_is_sparse(op, t);
  TAEDA_CHECK(!t.requires_grad(), op, ": cannot resize variables that require grad");
}

/// What a tensor with elements may become without losing or moving any.
void check_resize(const Tensor& t, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  const auto refuse = [&](bool bad, const char* what, IntArrayRef from, IntArrayRef to) {
    TAEDA_CHECK(
        !bad, what, " (from ", from, " to ", to,
        ") on a non-empty sparse tensor is not supported.\nYou could try the following "
        "options:\n1. If you need an empty sparse tensor of this size, call `x = "
        "taeda::sparse_coo_tensor(size)`.\n2. If you need to resize this tensor, make one of "
        "its indices and values, or call sparse_resize_and_clear_.");
  };
  const IntArrayRef own = t.sizes();
  refuse(sparse_dim != t.sparse_dim(), "changing the number of sparse dimensions", t.sparse_dim(),
         sparse_dim);
  refuse(dense_dim != t.dense_dim(), "changing the number of dense dimensions", t.dense_dim(),
         dense_dim);
  const auto dims = static_cast<size_t>(sparse_dim);
  bool shrinks = false;
  for (size_t d = 0; d < dims; ++d) shrinks = shrinks || size[d] < own[d];
  refuse(shrinks, "shrinking the size of sparse dimensions", own.slice(0, dims),
         size.slice(0, dims));
  const IntArrayRef from = own.slice(dims, own.size() - dims),
                    to = size.slice(dims, size.size() - dims);
  refuse(from != to, "changing the size of dense dimensions", from, to);
}

/// Parts of its own, so that aliases keep theirs, whose sizes stay.
void take_over(const Tensor& self, const Tensor& fresh) { self.set_data(fresh); }

}  // namespace

const Tensor& Tensor::sparse_resize_(IntArrayRef size, int64_t sparse_dim,
                                     int64_t dense_dim) const {
  check_resizable("sparse_resize_", *this);
  check_dims(size, sparse_dim, dense_dim);
  if (_nnz() == 0) return sparse_resize_and_clear_(size, sparse_dim, dense_dim);
  check_resize(*this, size, sparse_dim, dense_dim);
  const SparseParts& parts = sparse_parts(*this);
  take_over(*this, make_sparse(parts.indices, parts.values, size, parts.coalesced));
  return *this;
}

const Tensor& Tensor::sparse_resize_and_clear_(IntArrayRef size, int64_t sparse_dim,
                                               int64_t dense_dim) const {
  check_resizable("sparse_resize_and_clear_", *this);
  check_dims(size, sparse_dim, dense_dim);
  take_over(*this, without_elements(size, sparse_dim, dtype(), device()));
  return *this;
}

const Tensor& Tensor::resize_as_sparse_(const Tensor& other) const {
  check_is_sparse("resize_as_sparse_", other);
  return sparse_resize_(other.sizes(), other.sparse_dim(), other.dense_dim());
}

Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool /*non_blocking*/) {
  check_is_sparse("copy_sparse_to_sparse_", self);
  check_is_sparse("copy_sparse_to_sparse_", src);
  if (self.sizes() == src.sizes()) return self.copy_(src);
  check_resizable("copy_sparse_to_sparse_", self);
  take_over(self, src.detach().to(self.device(), self.dtype(), false, true));
  return self;
}

}  // namespace taeda::inline v0_2
