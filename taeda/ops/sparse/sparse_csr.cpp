// Matrices in compressed rows (CSR) are made, taken apart, copied and converted. What else is done
// with them is done with their values, or with coordinates.
#include <algorithm>

#include "bodies/sparse.h"
#include "bodies/tensor_methods.h"
#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/create_common.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/meta_guard.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2 {

namespace {

void check_is_csr(const char* op, const Tensor& t) {
  TAEDA_CHECK(t.is_sparse_csr(), op, " expected sparse row compressed tensor layout but got ",
              detail::layout_name(t));
}

[[noreturn]] void refuse_batches(const char* op, IntArrayRef sizes) {
  throw NotImplementedError(
      taeda::detail::concat(op, ": batches of matrices in compressed rows are not supported, got ",
                            "size ", sizes, "; make one of each matrix"));
}

/// Where rows begin, from the ascending row of each element.
Tensor begins_of_rows(const Tensor& row_of_each, int64_t rows) {
  return searchsorted(row_of_each.contiguous(), arange(rows + 1, row_of_each.options()));
}

/// Whether both are the same memory read in the same way.
bool is_same_part(const Tensor& a, const Tensor& b) {
  return a.is_alias_of(b) && a.layout() == b.layout();
}

// ---- making ----

void check_csr_shapes(const Tensor& rows, const Tensor& columns, const Tensor& values,
                      IntArrayRef sizes) {
  TAEDA_CHECK(rows.dim() >= 1, "crow_indices must have dimensionality >= 1 but got ", rows.dim());
  TAEDA_CHECK(rows.dim() == columns.dim(),
              "crow_indices and col_indices dimensionalities must be equal but got ", rows.dim(),
              " and ", columns.dim(), ", respectively");
  if (rows.dim() > 1) refuse_batches("sparse_csr_tensor", sizes);
  TAEDA_CHECK(values.dim() >= 1,
              "values must have dimensionality > sum of batch and block dimensionalities (=0 + 0) "
              "but got ",
              values.dim());
  const int64_t dense = values.dim() - 1;
  TAEDA_CHECK(static_cast<int64_t>(sizes.size()) == 2 + dense,
              "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=0 + "
              "2 + ",
              dense, ") but got ", sizes.size());
  TAEDA_CHECK(rows.numel() == sizes[0] + 1,
              "crow_indices.shape[-1] must be equal to the number of rows + 1 (=", sizes[0] + 1,
              "), but got ", rows.numel());
  TAEDA_CHECK(columns.numel() == values.size(0),
              "col_indices.shape[-1] must be equal to nnz (=", values.size(0),
              ") as defined by values.shape[0], but got ", columns.numel());
  const DimVector expected = detail::value_sizes(sizes, 2, values.size(0));
  TAEDA_CHECK(values.sizes() == IntArrayRef(expected), "values has incorrect size, expected ",
              IntArrayRef(expected), ", got ", values.sizes());
}

void check_csr_dtypes(const Tensor& rows, const Tensor& columns) {
  TAEDA_CHECK(rows.dtype() == columns.dtype(),
              "crow_indices and col_indices must have the same dtype, but got ", rows.dtype(),
              " and ", columns.dtype(), ", respectively");
  TAEDA_CHECK(rows.dtype() == kInt || rows.dtype() == kLong,
              "crow_indices and col_indices dtype must be Int or Long, but got ", rows.dtype());
}

/// Throws Error, in PyTorch's words, unless rows follow each other and columns lie within `width`.
/// Gives whether the columns of each row ascend. Both tensors are on the host.
template <class Index>
bool checked_csr_indices(const Tensor& rows, const Tensor& columns, int64_t width) {
  const Index *begin = rows.data_ptr<Index>(), *column = columns.data_ptr<Index>();
  const int64_t count = rows.numel() - 1, elements = columns.numel();
  TAEDA_CHECK(begin[0] == 0, "`crow_indices[..., 0] == 0` is not satisfied.");
  TAEDA_CHECK(begin[count] == elements, "`crow_indices[..., -1] == nnz` is not satisfied.");
  for (int64_t i = 0; i < count; ++i)
    TAEDA_CHECK(begin[i] <= begin[i + 1] && (width >= elements || begin[i + 1] - begin[i] <= width),
                "`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied.");
  const bool inside =
      std::all_of(column, column + elements, [width](Index c) { return c >= 0 && c < width; });
  TAEDA_CHECK(inside, "`0 <= col_indices < ncols` is not satisfied.");
  bool sorted = true;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = begin[i] + 1; k < begin[i + 1]; ++k) sorted &= column[k - 1] < column[k];
  return sorted;
}

bool checked_csr_indices(const Tensor& rows, const Tensor& columns, int64_t width,
                         bool want_sorted) {
  if (rows.is_meta()) return true;
  const Tensor r = rows.cpu().contiguous(), c = columns.cpu().contiguous();
  const bool sorted = r.dtype() == kInt ? checked_csr_indices<int32_t>(r, c, width)
                                        : checked_csr_indices<int64_t>(r, c, width);
  TAEDA_CHECK(
      sorted || !want_sorted,
      "`col_indices[..., crow_indices[..., i - 1]:crow_indices[..., i]] for all i = 1, ..., "
      "nrows are sorted and distinct along the last dimension values` is not satisfied.");
  return sorted;
}

}  // namespace

Tensor do_sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices,
                            const Tensor& values, IntArrayRef size, const TensorOptions& options,
                            bool check_invariants) {
  TAEDA_CHECK(options.is_sparse_csr() || !options.has_layout(),
              "sparse_csr_tensor: layout must be SparseCsr but got Sparse");
  check_csr_shapes(crow_indices, col_indices, values, size);
  check_csr_dtypes(crow_indices, col_indices);
  checked_numel(size);
  const Device device = options.has_device() ? resolve(options.device()) : values.device();
  const Tensor own = values.to(device, options.dtype_or(values.dtype()));
  Tensor rows, columns;
  {
    NoGradGuard guard;
    rows = crow_indices.detach().to(device).contiguous();
    columns = col_indices.detach().to(device).contiguous();
  }
  const bool sorted = checked_csr_indices(rows, columns, size[1], check_invariants);
  return detail::finish(detail::with_csr_values(rows, columns, own, size, sorted), options);
}

Tensor do_sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices,
                            const Tensor& values, const TensorOptions& options,
                            bool check_invariants) {
  TAEDA_CHECK(crow_indices.dim() == 1 && col_indices.dim() == 1 && values.dim() >= 1,
              "sparse_csr_tensor: expected crow_indices and col_indices with one dimension, and "
              "values with at least one, got ",
              crow_indices.sizes(), ", ", col_indices.sizes(), " and ", values.sizes());
  const bool any = col_indices.numel() > 0 && !col_indices.is_meta();
  DimVector size{crow_indices.numel() - 1,
                 any ? col_indices.max().to(kLong).add(1).item<int64_t>() : 0};
  for (int64_t d = 1; d < values.dim(); ++d) size.push_back(values.size(d));
  return sparse_csr_tensor(crow_indices, col_indices, values, size, options, check_invariants);
}

Tensor detail::with_csr_values(const Tensor& rows, const Tensor& columns, const Tensor& values,
                               IntArrayRef sizes, bool sorted) {
  Tensor out = make_sparse_csr(rows, columns, values, sizes, sorted);
  if (wants_grad(values))
    record("SparseCompressedTensorBackward0", out, {values},
           [rows = save_tensor(make_alias(rows), "crow_indices"),
            columns = save_tensor(make_alias(columns), "col_indices")](const Tensor& g) {
             const CsrParts at(rows.unpack(), columns.unpack(), {}, true);
             return values_at_rows(g, at);
           });
  return out;
}

Tensor detail::values_at_rows(const Tensor& t, const CsrParts& at) {
  if (t.is_sparse_csr()) {
    const CsrParts& own = csr_parts(t);
    if (is_same_part(own.rows, at.rows) && is_same_part(own.columns, at.columns))
      return values_of(t);
  }
  return values_at(t, csr_coordinates(at));
}

Tensor detail::csr_values_of(const Tensor& self) {
  const CsrParts& parts = csr_parts(self);
  Tensor out = make_alias(parts.values);
  if (wants_grad(self))
    record("ValuesBackward0", out, {self},
           [rows = save_tensor(make_alias(parts.rows), "crow_indices"),
            columns = save_tensor(make_alias(parts.columns), "col_indices"),
            sizes = DimVector(self.sizes()), sorted = parts.sorted](const Tensor& g) {
             return with_csr_values(rows.unpack(), columns.unpack(), g, sizes, sorted);
           });
  return out;
}

Tensor detail::csr_empty(IntArrayRef sizes, const TensorOptions& o) {
  checked_numel(sizes);
  TAEDA_CHECK(sizes.size() >= 2,
              "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but "
              "got size ",
              sizes);
  if (sizes.size() > 2) refuse_batches("empty", sizes);
  const Device device = device_of(o);
  NoGradGuard guard;
  return finish(make_sparse_csr(zeros({sizes[0] + 1}, TensorOptions(kLong).device(device)),
                                make_tensor({0}, kLong, device),
                                make_tensor({0}, o.dtype(), device), sizes, true),
                o);
}

void detail::check_csr(const Tensor& self) {
  const CsrParts& parts = csr_parts(self);
  checked_csr_indices(parts.rows, parts.columns, self.size(1), false);
}

// ---- parts ----

Tensor Tensor::crow_indices() const {
  check_is_csr("crow_indices", *this);
  return make_alias(csr_parts(*this).rows);
}

Tensor Tensor::col_indices() const {
  check_is_csr("col_indices", *this);
  return make_alias(csr_parts(*this).columns);
}

// ---- conversions ----

Tensor detail::csr_coordinates(const CsrParts& parts) {
  NoGradGuard guard;
  // An element's row is the number of rows that end before it.
  const Tensor ends = parts.rows.narrow(0, 1, parts.rows.numel() - 1);
  const Tensor elements = arange(parts.columns.numel(), ends.options());
  return stack({searchsorted(ends, elements, false, /*right=*/true), parts.columns.to(kLong)});
}

Tensor detail::csr_transposed(const Tensor& self) {
  const CsrParts& parts = csr_parts(self);
  Tensor rows, columns, order;
  {
    NoGradGuard guard;
    const Tensor row_of_each = csr_coordinates(parts).select(0, 0);
    const auto [column_of_each, from] = parts.columns.to(kLong).sort(0);
    order = from;
    rows = begins_of_rows(column_of_each, self.size(1));
    columns = row_of_each.index_select(0, order);
  }
  return with_csr_values(rows, columns, csr_values_of(self).index_select(0, order),
                         {self.size(1), self.size(0)}, parts.sorted);
}

Tensor detail::csr_to_coo(const Tensor& self) {
  const CsrParts& parts = csr_parts(self);
  return with_values(csr_coordinates(parts), csr_values_of(self), self.sizes(), parts.sorted);
}

namespace {

Tensor coo_to_csr(const Tensor& self) {
  TAEDA_CHECK(self.sparse_dim() == 2,
              "coo_to_sparse_csr: conversion from Sparse to SparseCsr for input tensors with "
              "sparse_dim()!=2 is not supported");
  const Tensor t = self.coalesce();
  Tensor rows, columns;
  {
    NoGradGuard guard;
    const Tensor& indices = sparse_parts(t).indices;
    rows = begins_of_rows(indices.select(0, 0), t.size(0));
    columns = indices.select(0, 1).contiguous();
  }
  return detail::with_csr_values(rows, columns, detail::values_of(t), t.sizes(), true);
}

}  // namespace

Tensor do_to_sparse_csr(const Tensor& self, OptionalDim dense_dim) {
  if (!self.is_strided())
    TAEDA_CHECK(!dense_dim,
                self.is_sparse() ? "coo_to_sparse_csr: conversion from Sparse"
                                 : "to_sparse_csr: conversion from SparseCsr",
                " to SparseCsr with dense_dim argument given is not supported");
  if (self.is_sparse_csr()) return self;
  if (self.is_sparse()) return coo_to_csr(self);
  TAEDA_CHECK(self.dim() >= 2,
              "to_sparse_csr: expected a tensor with at least two dimensions, got size ",
              self.sizes());
  const int64_t dense = dense_dim.value_or(0);
  TAEDA_CHECK(dense >= 0 && dense <= self.dim() - 2,
              "dense_to_sparse_csr: dense_dim argument must be in [0,", self.dim() - 2,
              "] range, but ", dense, " is given");
  if (self.dim() - dense > 2) refuse_batches("to_sparse_csr", self.sizes());
  return coo_to_csr(self.to_sparse(2));
}

// ---- copies ----

Tensor detail::csr_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking) {
  const CsrParts& parts = csr_parts(self);
  const auto moved = [&](const Tensor& t, ScalarType to) {
    return t.to(device, to, non_blocking, /*copy=*/true);
  };
  Tensor out = make_sparse_csr(moved(parts.rows, parts.rows.dtype()),
                               moved(parts.columns, parts.columns.dtype()),
                               moved(parts.values, dtype), self.sizes(), parts.sorted);
  if (wants_grad(self))
    record("ToCopyBackward0", out, {self},
           [from = self.device()](const Tensor& g) { return g.to(from, g.dtype()); });
  return out;
}

Tensor detail::csr_mask(const Tensor& self, const Tensor& mask) {
  const CsrParts& parts = csr_parts(mask);
  return with_csr_values(parts.rows, parts.columns, values_at_rows(self, parts), mask.sizes(),
                         parts.sorted);
}

void detail::replace_csr_parts(const Tensor& self, const Tensor& by) {
  const CsrParts& from = csr_parts(by);
  CsrParts& to = csr_parts(self);
  to.rows = from.rows.to(self.device());
  to.columns = from.columns.to(self.device());
  to.values = from.values.to(self.device(), self.dtype());
  to.sorted = from.sorted;
}

}  // namespace taeda::inline v0_2
