// Sums, products and other functions of sparse tensors' elements.
#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/iter.h"
#include "taeda/tensor/promote.h"

namespace taeda::inline v0_2 {

using detail::value_sizes, detail::values_at, detail::values_of, detail::with_values;

// ---- functions of single elements ----

Tensor detail::on_values(const Tensor& self, bool linear,
                         const std::function<Tensor(const Tensor&)>& f) {
  if (self.is_sparse_csr()) {
    const CsrParts& parts = csr_parts(self);
    return with_csr_values(parts.rows, parts.columns, f(csr_values_of(self)), self.sizes(),
                           parts.sorted);
  }
  // A function that is linear has the same gradient at each of several equal indices.
  const Tensor t = linear && !wants_grad(self) ? self : self.coalesce();
  const SparseParts& parts = sparse_parts(t);
  return with_values(parts.indices, f(values_of(t)), self.sizes(), parts.coalesced);
}

Tensor detail::on_values_if_zero(const Tensor& self,
                                 const std::function<Tensor(const Tensor&)>& f) {
  {
    NoGradGuard guard;
    const Tensor zero = zeros({}, TensorOptions(self.dtype()).device(kCPU));
    if (!f(zero).item().equal(0)) self.storage()->throw_without_memory();
  }
  return on_values(self, false, f);
}

// ---- add ----

namespace {

Tensor alpha_times(const Tensor& t, const Scalar& alpha) {
  return alpha.equal(1) ? t : t.mul(alpha);
}

void check_sum(const Tensor& self, const Tensor& other) {
  check_same_device("add", {&self, &other});
  TAEDA_CHECK(self.sizes() == other.sizes(),
              "add: expected sizes of 'self' and 'other' to match, but ", self.sizes(),
              " != ", other.sizes());
}

/// The elements of both, one behind the other; coalesced if both are.
Tensor with_both(const Tensor& a, const Tensor& b, const Scalar& alpha, ScalarType dtype) {
  TAEDA_CHECK(a.sparse_dim() == b.sparse_dim(),
              "add: expected 'self' and 'other' to have same number of sparse dimensions, but ",
              a.sparse_dim(), " != ", b.sparse_dim());
  const SparseParts &x = sparse_parts(a), &y = sparse_parts(b);
  const Tensor second = alpha_times(y.values.to(dtype), alpha);
  const Tensor out = make_sparse(cat({x.indices, y.indices}, 1), cat({x.values.to(dtype), second}),
                                 a.sizes(), false);
  return x.coalesced && y.coalesced ? out.coalesce() : out;
}

/// Adds alpha times the elements of `other` to a dense tensor of its sizes.
void add_elements(const Tensor& dense, const Tensor& other, const Scalar& alpha) {
  const SparseParts& parts = sparse_parts(other);
  const Tensor values = parts.values.to(dense.dtype());
  if (dense.is_contiguous() && dense.dtype() != kBool) {
    const int64_t dims = parts.indices.size(0);
    const int64_t n = product(dense.sizes().slice(0, static_cast<size_t>(dims)));
    dense.view(value_sizes(dense.sizes(), dims, n))
        .index_add_(0, detail::sparse_keys(parts.indices, dense.sizes()), values, alpha);
    return;
  }
  std::vector<TensorIndex> at;
  for (int64_t d = 0; d < parts.indices.size(0); ++d) at.push_back(parts.indices.select(0, d));
  dense.index_put_(at, alpha_times(values, alpha), /*accumulate=*/true);
}

}  // namespace

namespace {

/// f of operands of which some are in compressed rows, with these in coordinates. The result is in
/// compressed rows if both are.
template <class F>
Tensor through_coordinates(const Tensor& a, const Tensor& b, F&& f) {
  const Tensor out = f(detail::in_coordinates(a), detail::in_coordinates(b));
  return a.is_sparse_csr() && b.is_sparse_csr() ? out.to_sparse_csr() : out;
}

bool any_in_rows(const Tensor& a, const Tensor& b) {
  return a.is_sparse_csr() || b.is_sparse_csr();
}

}  // namespace

Tensor detail::sparse_add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (self.is_sparse_csr() && other.is_strided())
    return sparse_add(alpha_times(other, alpha), csr_to_coo(self), 1);
  if (any_in_rows(self, other))
    return through_coordinates(
        self, other, [&](const Tensor& a, const Tensor& b) { return sparse_add(a, b, alpha); });
  TAEDA_CHECK(!self.is_sparse() || other.is_sparse(),
              "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  check_sum(self, other);
  const ScalarType dtype = result_type({self, other});
  Tensor out;
  {
    NoGradGuard guard;
    if (self.is_sparse()) {
      out = with_both(self, other, alpha, dtype);
    } else {
      out = self.detach().to(self.device(), dtype, false, /*copy=*/true);
      add_elements(out, other, alpha);
    }
  }
  if (wants_grad(self, other))
    record("AddBackward0", out, {self, other}, [alpha](const Tensor& g, Needs needs) {
      return TensorVec{g, needs[1] ? detail::scaled(g, alpha) : Tensor()};
    });
  return out;
}

Tensor& detail::sparse_add_(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (self.is_sparse_csr())
    return assign("add_", self, wants_grad(self, other),
                  [&](const Tensor& t) { return sparse_add(t, other, alpha); });
  if (other.is_sparse_csr()) return sparse_add_(self, csr_to_coo(other), alpha);
  TAEDA_CHECK(!self.is_sparse() || other.is_sparse(),
              "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  check_sum(self, other);
  const ScalarType dtype = result_type({self, other});
  TAEDA_CHECK(can_cast(dtype, self.dtype()), "result type ", to_string(dtype),
              " can't be cast to the desired output type ", to_string(self.dtype()));
  InplaceChange change("add_", self, {self, other});
  {
    NoGradGuard guard;
    if (self.is_sparse())
      replace_parts(self, with_both(self, other, alpha, dtype));
    else
      add_elements(make_alias(self), other, alpha);
  }
  change.finish("AddBackward0", [&] {
    return [alpha](const Tensor& g, Needs needs) {
      return TensorVec{g, needs[1] ? detail::scaled(g, alpha) : Tensor()};
    };
  });
  return const_cast<Tensor&>(self);
}

// ---- mul, div ----

Tensor detail::sparse_mul(const Tensor& self, const Tensor& other) {
  check_same_device("mul", {&self, &other});
  const Tensor& sparse = self.is_strided() ? other : self;
  const Tensor& factor = self.is_strided() ? self : other;
  if (factor.is_strided() && factor.dim() == 0)
    return on_values(sparse, true, [&](const Tensor& values) { return values.mul(factor); });
  if (sparse.is_sparse_csr() && factor.is_strided())
    return on_values(sparse, true, [&](const Tensor& values) {
      const Tensor all = factor.sizes() == sparse.sizes() ? factor : factor.expand(sparse.sizes());
      return values.mul(values_at_rows(all, csr_parts(sparse)));
    });
  if (any_in_rows(self, other)) return through_coordinates(self, other, sparse_mul);
  if (factor.is_sparse())
    TAEDA_CHECK(sparse.sizes() == factor.sizes(), "mul: expected 'self' and 'other' to have same ",
                "sizes, but ", sparse.sizes(), " != ", factor.sizes());
  const Tensor t = sparse.coalesce();
  const Tensor& indices = sparse_parts(t).indices;
  const Tensor there = factor.sizes() == t.sizes() ? factor : factor.expand(t.sizes());
  return with_values(indices, values_of(t).mul(values_at(there, indices)), t.sizes(), true);
}

Tensor detail::sparse_div(const Tensor& self, const Tensor& other,
                          std::optional<std::string_view> rounding_mode) {
  TAEDA_CHECK(!self.is_strided() && other.is_strided() && other.dim() == 0,
              "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ",
              other.sizes(), " for divisor)");
  return on_values(self, !rounding_mode,
                   [&](const Tensor& values) { return values.div(other, rounding_mode); });
}

// ---- sums ----

namespace {

/// What a sum leaves: the sparse dimensions that stay, and those of the values that go.
struct Summed {
  std::vector<Tensor> indices;
  DimVector sizes, in_values;
};

Summed without(const Tensor& t, const DimVector& dims, bool keepdim) {
  Summed out;
  const Tensor& indices = sparse_parts(t).indices;
  for (int64_t d = 0; d < t.dim(); ++d) {
    const bool goes = std::find(dims.begin(), dims.end(), d) != dims.end();
    const bool sparse = d < t.sparse_dim();
    if (!goes || keepdim) out.sizes.push_back(goes ? 1 : t.size(d));
    if (sparse && !goes) out.indices.push_back(indices.select(0, d));
    if (sparse && goes && keepdim) out.indices.push_back(zeros_like(indices.select(0, d)));
    if (!sparse && goes) out.in_values.push_back(d - t.sparse_dim() + 1);
  }
  return out;
}

}  // namespace

Tensor detail::sparse_sum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype) {
  if (self.is_sparse_csr()) {
    TAEDA_CHECK(dims.empty() || keepdim,
                "reduction operations on CSR tensors with keepdim=False is unsupported");
    const Tensor out = sparse_sum(csr_to_coo(self), dims, keepdim, dtype);
    return dims.empty() ? out : out.to_sparse_csr();
  }
  const DimVector all = wrap_dims(dims, self.dim(), /*empty_is_all=*/true);
  const Tensor t = wants_grad(self) ? self.coalesce() : self;
  const Tensor values = values_of(t);
  int64_t sparse_left = t.sparse_dim();
  for (const int64_t d : all) sparse_left -= d < t.sparse_dim();
  const Summed left = without(t, all, keepdim);
  if (sparse_left == 0) {
    DimVector gone = left.in_values;
    gone.push_back(0);
    const Tensor out = values.sum(gone, false, dtype);
    return keepdim ? out.reshape(left.sizes) : out;
  }
  Tensor kept = values;
  if (!left.in_values.empty()) {
    kept = values.sum(left.in_values, keepdim, dtype);
  } else if (dtype || is_integral(values.dtype(), true)) {
    kept = values.to(dtype.value_or(kLong));
  }
  return with_values(stack(left.indices), kept, left.sizes, false).coalesce();
}

Tensor sparse::sum(const Tensor& self, OptionalDtype dtype) { return taeda::sum(self, dtype); }
Tensor sparse::sum(const Tensor& self, IntArrayRef dim, OptionalDtype dtype) {
  return taeda::sum(self, dim, false, dtype);
}

// ---- other sizes and places ----

Tensor detail::sparse_permute(const Tensor& self, IntArrayRef dims) {
  const DimVector order = wrap_dims(dims, self.dim());
  TAEDA_CHECK(order.size() == self.sizes().size(),
              "permute(sparse_coo): number of dimensions in the tensor input does not match the "
              "length of the desired ordering of dimensions i.e. input.dim() = ",
              self.dim(), " is not equal to len(dims) = ", order.size());
  const int64_t sparse_dim = self.sparse_dim();
  const Tensor t = wants_grad(self) ? self.coalesce() : self;
  const SparseParts& parts = sparse_parts(t);
  std::vector<Tensor> rows;
  DimVector sizes, in_values{0};
  bool same = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool sparse = static_cast<int64_t>(i) < sparse_dim;
    TAEDA_CHECK(sparse == (order[i] < sparse_dim),
                "transpose: transposed dimensions must be sparse or dense, both: got ",
                IntArrayRef(order), " for sparse_dim: ", sparse_dim);
    sizes.push_back(self.size(order[i]));
    same = same && order[i] == static_cast<int64_t>(i);
    if (sparse)
      rows.push_back(parts.indices.select(0, order[i]));
    else
      in_values.push_back(order[i] - sparse_dim + 1);
  }
  Tensor values = values_of(t);
  if (in_values.size() > 1) values = values.permute(in_values);
  const Tensor indices = rows.empty() ? parts.indices : stack(rows);
  return with_values(indices, values, sizes, parts.coalesced && same);
}

namespace {

/// Throws where dimensions of a matrix in compressed rows would change places.
void check_not_in_rows(const char* op, const Tensor& t) {
  TAEDA_CHECK_NOT_IMPLEMENTED(!t.is_sparse_csr(), op,
                              ": a matrix in compressed rows would become one in compressed "
                              "columns (sparse_csc), which is not supported; use to_sparse()");
}

}  // namespace

Tensor detail::sparse_transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  check_not_in_rows("transpose", self);
  const int64_t dims = self.sparse_dim();
  TAEDA_CHECK((dim0 < dims) == (dim1 < dims),
              "sparse transpose: transposed dimensions must be sparse Got sparse_dim: ", dims,
              ", d0: ", dim0, ", d1: ", dim1);
  DimVector order;
  for (int64_t d = 0; d < self.dim(); ++d) order.push_back(d == dim0 ? dim1 : d == dim1 ? dim0 : d);
  return sparse_permute(self, order);
}

Tensor detail::sparse_t(const Tensor& self) {
  check_not_in_rows("t", self);
  TAEDA_CHECK(self.sparse_dim() <= 2 && self.dense_dim() == 0,
              "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got ",
              self.sparse_dim(), " sparse and ", self.dense_dim(), " dense dimensions");
  return self.dim() < 2 ? self : sparse_transpose(self, 0, 1);
}

Tensor detail::sparse_unsqueeze(const Tensor& self, int64_t dim) {
  const Tensor t = wants_grad(self) ? self.coalesce() : self;
  const SparseParts& parts = sparse_parts(t);
  DimVector sizes = t.sizes();
  sizes.insert(static_cast<size_t>(dim), 1);
  const Tensor values = values_of(t);
  if (dim > t.sparse_dim())
    return with_values(parts.indices, values.unsqueeze(dim - t.sparse_dim() + 1), sizes,
                       parts.coalesced);
  const Tensor row = zeros({1, values.size(0)}, parts.indices.options());
  const Tensor indices = cat(
      {parts.indices.narrow(0, 0, dim), row, parts.indices.narrow(0, dim, t.sparse_dim() - dim)});
  return with_values(indices, values, sizes, parts.coalesced);
}

namespace {

/// Where along a sparse dimension the elements are at `index`, counted from its begin.
Tensor elements_at(const Tensor& coalesced, int64_t dim, int64_t index) {
  NoGradGuard guard;
  return sparse_parts(coalesced).indices.select(0, dim).eq(index).nonzero().flatten();
}

}  // namespace

Tensor detail::sparse_select(const Tensor& self, int64_t dim, int64_t index) {
  if (self.is_sparse_csr()) return sparse_select(csr_to_coo(self), dim, index);
  const int64_t size = self.size(dim);
  TAEDA_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  const Tensor t = self.coalesce();
  const SparseParts& parts = sparse_parts(t);
  DimVector sizes = t.sizes();
  sizes.erase(static_cast<size_t>(dim));
  if (dim >= t.sparse_dim())
    return with_values(parts.indices, values_of(t).select(dim - t.sparse_dim() + 1, index), sizes,
                       true);
  const Tensor at = elements_at(t, dim, index), values = values_of(t).index_select(0, at);
  if (t.sparse_dim() == 1) return values.sum({0});
  const Tensor indices = cat({parts.indices.narrow(0, 0, dim),
                              parts.indices.narrow(0, dim + 1, t.sparse_dim() - dim - 1)});
  return with_values(indices.index_select(1, at), values, sizes, true);
}

Tensor detail::sparse_index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  TAEDA_CHECK_INDEX(index.dim() == 1 && is_integral(index.dtype()),
                    "index_select(): index must be 1-D and of integers");
  const Tensor t = self.coalesce();
  const SparseParts& parts = sparse_parts(t);
  DimVector sizes = t.sizes();
  const int64_t size = sizes[static_cast<size_t>(dim)];
  sizes[static_cast<size_t>(dim)] = index.numel();
  if (dim >= t.sparse_dim())
    return with_values(parts.indices, values_of(t).index_select(dim - t.sparse_dim() + 1, index),
                       sizes, true);
  // Elements of index i form a run once they are ordered by it; each entry of `index` copies one.
  Tensor where, to;
  {
    NoGradGuard guard;
    const Tensor own = parts.indices.select(0, dim);
    const auto [sorted, order] = own.sort();
    const Tensor counts = bincount(own, {}, size), ends = counts.cumsum(0);
    const Tensor wanted = counts.index_select(0, index);
    to = repeat_interleave(wanted);
    const Tensor begins = ends.sub(counts).index_select(0, index),
                 firsts = wanted.cumsum(0).sub(wanted);
    const Tensor places = arange(to.numel(), to.options())
                              .sub(firsts.index_select(0, to))
                              .add(begins.index_select(0, to));
    where = order.index_select(0, places);
  }
  const Tensor rows = parts.indices.index_select(1, where);
  const Tensor indices = cat(
      {rows.narrow(0, 0, dim), to.unsqueeze(0), rows.narrow(0, dim + 1, t.sparse_dim() - dim - 1)});
  return with_values(indices, values_of(t).index_select(0, where), sizes, false).coalesce();
}

Tensor detail::sparse_cat(TensorList tensors, int64_t dim) {
  const Tensor& first = tensors[0];
  const int64_t d = wrap_dim(dim, first.dim()), dims = first.sparse_dim();
  std::vector<Tensor> indices, values;
  DimVector sizes = first.sizes();
  int64_t length = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    TAEDA_CHECK(t.is_sparse(), "Concatenating sparse tensors, but a dense tensor was found at ",
                "position ", i, ".");
    TAEDA_CHECK(t.sparse_dim() == dims && t.dim() == first.dim(),
                "All tensors must have the same shape: ", first.sizes(),
                " (except in the concatenating dimension), but found shape: ", t.sizes());
    for (int64_t k = 0; k < t.dim(); ++k)
      TAEDA_CHECK(k == d || t.size(k) == first.size(k),
                  "All tensors must have the same shape: ", first.sizes(),
                  " (except in the concatenating dimension), but found shape: ", t.sizes());
    const Tensor part = wants_grad(t) ? t.coalesce() : t;
    Tensor at = sparse_parts(part).indices, value = values_of(part);
    if (d < dims) {
      at = cat(
          {at.narrow(0, 0, d), at.narrow(0, d, 1).add(length), at.narrow(0, d + 1, dims - d - 1)});
    } else {
      // Dense dimensions: zeros stand where the other tensors are.
      DimVector before = value.sizes(), behind = value.sizes();
      int64_t total = 0;
      for (const Tensor& other : tensors) total += other.size(d);
      const auto k = static_cast<size_t>(d - dims + 1);
      before[k] = length, behind[k] = total - length - t.size(d);
      value = cat({zeros(before, value.options()), value, zeros(behind, value.options())},
                  static_cast<int64_t>(k));
    }
    indices.push_back(at);
    values.push_back(value);
    length += t.size(d);
  }
  sizes[static_cast<size_t>(d)] = length;
  return with_values(cat(indices, 1), cat(values), sizes, false);
}

}  // namespace taeda::inline v0_2
