// Products of sparse matrices, and softmax over their elements.
#include <limits>

#include "taeda/base/error.h"
#include "taeda/kernels/resample.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/sparse/sparse.h"
#include "taeda/ops/sparse/sparse_common.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

using detail::conjugate, detail::sparse_keys, detail::values_of, detail::with_values;

namespace {

/// Rows of a dense matrix that are gathered at a time.
constexpr int64_t kGatheredBytes = int64_t{16} << 20;

/// Calls f(first, count) for parts of n elements, each of which stands for a row of `row_bytes`.
template <class F>
void in_blocks(int64_t n, int64_t row_bytes, F&& f) {
  const int64_t block = std::max<int64_t>(kGatheredBytes / std::max<int64_t>(row_bytes, 1), 1);
  for (int64_t at = 0; at < n; at += block) f(at, std::min(block, n - at));
}

void check_matrices(const Tensor& a, const Tensor& b) {
  check_same_device("mm", {&a, &b});
  TAEDA_CHECK(a.dim() == 2, "mm: Expected 2D (or 0D) tensors, but got mat1 of ", a.dim(), "D");
  TAEDA_CHECK(b.dim() == 2, "mm: Expected 2D (or 0D) tensors, but got mat2 of ", b.dim(), "D");
  for (const Tensor* t : {&a, &b})
    TAEDA_CHECK(!t->is_sparse() || t->dense_dim() == 0,
                "mm: expected matrices with two sparse dimensions, but got one with ",
                t->sparse_dim(), " sparse and ", t->dense_dim(), " dense dimensions");
  TAEDA_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  TAEDA_CHECK(a.dtype() == b.dtype(),
              "expected mat1 and mat2 to have the same dtype, but got: ", a.dtype(),
              " != ", b.dtype());
}

/// indices, values and dense rows: out[i] += v * b[j] for every element (i, j, v).
Tensor summed_rows(const Tensor& indices, const Tensor& values, const Tensor& b, int64_t rows) {
  NoGradGuard guard;
  Tensor out = zeros({rows, b.size(1)}, b.options());
  const Tensor to = indices.select(0, 0), from = indices.select(0, 1);
  in_blocks(values.size(0), b.size(1) * b.element_size(), [&](int64_t at, int64_t n) {
    const Tensor gathered = b.index_select(0, from.narrow(0, at, n));
    out.index_add_(0, to.narrow(0, at, n), gathered.mul_(values.narrow(0, at, n).unsqueeze(1)));
  });
  return out;
}

/// (a b^H) at `indices` alone, differentiable.
Tensor sampled(const Tensor& a, const Tensor& b, const Tensor& indices) {
  const Tensor rows = indices.select(0, 0), columns = indices.select(0, 1);
  std::vector<Tensor> parts;
  in_blocks(indices.size(1), a.size(1) * a.element_size(), [&](int64_t at, int64_t n) {
    parts.push_back(a.index_select(0, rows.narrow(0, at, n))
                        .mul(conjugate(b).index_select(0, columns.narrow(0, at, n)))
                        .sum({1}));
  });
  return parts.empty() ? zeros({0}, a.options()) : cat(parts);
}

Tensor sparse_times_dense(const Tensor& self, const Tensor& b) {
  const Tensor a = wants_grad(self, b) ? self.coalesce() : self;
  const SparseParts& parts = sparse_parts(a);
  Tensor out = summed_rows(parts.indices, parts.values, b.detach(), a.size(0));
  if (wants_grad(a, b))
    record("MmBackward0", out, {a, b},
           [a = save_tensor(a), b = save_if(a.requires_grad(), b, "mat2")](const Tensor& g,
                                                                           Needs needs) {
             const Tensor left = a.unpack();
             TensorVec grads{{}, {}};
             if (needs[0]) {
               const Tensor& at = sparse_parts(left).indices;
               grads[0] = with_values(at, sampled(g, b.unpack(), at), left.sizes(), true);
             }
             if (needs[1]) grads[1] = conjugate(left).t().mm(g);
             return grads;
           });
  return out;
}

/// Whether the kernel of resampling, which multiplies a dimension by a matrix in compressed rows,
/// takes such operands.
bool resamples(const CsrParts& a, const Tensor& b) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return is_floating_point(b.dtype()) && a.columns.numel() <= kMost && a.rows.numel() <= kMost &&
         b.size(0) <= kMost;
}

Tensor resampled(const CsrParts& a, const Tensor& b) {
  NoGradGuard guard;
  const int64_t rows = a.rows.numel() - 1, width = b.size(1);
  Tensor out = make_tensor({rows, width}, b.dtype(), b.device());
  if (out.numel() > 0)
    resample_slot(b.device().type(), out.view({1, rows, width}),
                  b.contiguous().view({1, b.size(0), width}), a.rows.to(kInt), a.columns.to(kInt),
                  a.values.to(computing_dtype(b.dtype())).contiguous());
  return out;
}

/// A matrix in compressed rows times a dense one.
Tensor rows_times_dense(const Tensor& a, const Tensor& b) {
  if (a.is_cpu()) detail::check_csr(a);  // a kernel would read where somebody's indices lead
  if (!resamples(csr_parts(a), b)) return sparse_times_dense(detail::csr_to_coo(a), b);
  Tensor out = resampled(csr_parts(a), b.detach());
  if (wants_grad(a, b))
    record("MmBackward0", out, {a, b},
           [a = save_tensor(a), b = save_if(a.requires_grad(), b, "mat2")](const Tensor& g,
                                                                           Needs needs) {
             const Tensor left = a.unpack();
             TensorVec grads{{}, {}};
             if (needs[0]) {
               const CsrParts& at = csr_parts(left);
               grads[0] = detail::with_csr_values(
                   at.rows, at.columns, sampled(g, b.unpack(), detail::csr_coordinates(at)),
                   left.sizes(), at.sorted);
             }
             if (needs[1]) grads[1] = detail::csr_transposed(conjugate(left)).mm(g);
             return grads;
           });
  return out;
}

/// Every element (i, k) of a meets the row k of b; what has one place is summed.
Tensor sparse_times_sparse(const Tensor& self, const Tensor& other) {
  const Tensor a = self.coalesce(), b = other.coalesce();
  const SparseParts &x = sparse_parts(a), &y = sparse_parts(b);
  Tensor left, right;  // the elements of a and b that meet
  {
    NoGradGuard guard;
    const Tensor wanted = x.indices.select(0, 1), rows = y.indices.select(0, 0).contiguous();
    const Tensor begins = searchsorted(rows, wanted),
                 counts = searchsorted(rows, wanted, false, /*right=*/true).sub(begins);
    left = repeat_interleave(counts);
    const Tensor firsts = counts.cumsum(0).sub(counts);
    right = arange(left.numel(), left.options())
                .sub(firsts.index_select(0, left))
                .add(begins.index_select(0, left));
  }
  const Tensor indices = stack({x.indices.select(0, 0).index_select(0, left),
                                y.indices.select(0, 1).index_select(0, right)});
  const Tensor values = values_of(a).index_select(0, left).mul(values_of(b).index_select(0, right));
  return with_values(indices, values, {a.size(0), b.size(1)}, false).coalesce();
}

}  // namespace

Tensor detail::sparse_mm(const Tensor& self, const Tensor& mat2) {
  check_matrices(self, mat2);
  if (self.is_sparse_csr() && mat2.is_strided()) return rows_times_dense(self, mat2);
  if (mat2.is_sparse_csr() && self.is_strided())
    return rows_times_dense(csr_transposed(mat2), self.t()).t();
  if (self.is_sparse_csr() && mat2.is_sparse_csr())
    return sparse_times_sparse(csr_to_coo(self), csr_to_coo(mat2)).to_sparse_csr();
  if (self.is_sparse_csr() || mat2.is_sparse_csr())
    return sparse_mm(in_coordinates(self), in_coordinates(mat2));
  if (self.is_sparse())
    return mat2.is_sparse() ? sparse_times_sparse(self, mat2) : sparse_times_dense(self, mat2);
  return sparse_times_dense(mat2.t(), self.t()).t();
}

Tensor detail::sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                            const Scalar& beta, const Scalar& alpha) {
  const Tensor product = mm(mat1, mat2);
  const Tensor scaled = alpha.equal(1) ? product : product.mul(alpha);
  if (beta.equal(0) && self.is_strided()) return scaled;
  const Tensor addend = beta.equal(1) ? self : self.mul(beta);
  return addend.is_strided() && addend.sizes() != scaled.sizes()
             ? addend.expand(scaled.sizes()).add(scaled)
             : addend.add(scaled);
}

Tensor sparse::mm(const Tensor& mat1, const Tensor& mat2) { return taeda::mm(mat1, mat2); }

Tensor sparse::addmm(const Tensor& mat, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                     const Scalar& alpha) {
  return taeda::addmm(mat, mat1, mat2, beta, alpha);
}

Tensor sparse::sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha) {
  TAEDA_CHECK(self.is_sparse_csr(),
              "sampled_addmm: Expected self to have sparse csr layout, but got ",
              detail::layout_name(self));
  TAEDA_CHECK(mat1.dim() == 2 && mat2.dim() == 2 && self.dim() == 2,
              "sampled_addmm: expected three matrices, got ", self.dim(), "-D, ", mat1.dim(),
              "-D and ", mat2.dim(), "-D tensors");
  TAEDA_CHECK(mat1.size(1) == mat2.size(0),
              "sampled_addmm: mat1 and mat2 shapes cannot be multiplied (", mat1.size(0), "x",
              mat1.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  TAEDA_CHECK(self.size(0) == mat1.size(0),
              "sampled_addmm: self.shape[-2] must match mat1.shape[-2]");
  TAEDA_CHECK(self.size(1) == mat2.size(1),
              "sampled_addmm: self.shape[-1] must match mat2.shape[-1]");
  return detail::on_values(self, true, [&](const Tensor& values) {
    const Tensor coordinates = detail::csr_coordinates(csr_parts(self));
    const Tensor product = sampled(mat1, conjugate(mat2.t()), coordinates);
    const Tensor scaled = alpha.equal(1) ? product : product.mul(alpha);
    return beta.equal(0) ? scaled : scaled.add(beta.equal(1) ? values : values.mul(beta));
  });
}

Tensor hspmm(const Tensor& mat1, const Tensor& mat2) {
  TAEDA_CHECK(mat1.is_sparse() && !mat2.is_sparse(), "hspmm: expected a sparse and a dense matrix");
  check_matrices(mat1, mat2);
  const Tensor a = mat1.coalesce();
  const SparseParts& parts = sparse_parts(a);
  const auto [rows, to, counts] = unique(parts.indices.select(0, 0), true);
  const Tensor compact = with_values(stack({to, parts.indices.select(0, 1)}), values_of(a),
                                     {rows.numel(), a.size(1)}, true);
  return with_values(rows.unsqueeze(0), mm(compact, mat2), {a.size(0), mat2.size(1)}, true);
}

Tensor smm(const Tensor& self, const Tensor& mat2) {
  const Tensor rows = hspmm(self, mat2);
  const int64_t n = rows._nnz(), width = rows.size(1);
  const Tensor from = rows._indices().select(0, 0);
  const Tensor indices =
      stack({from.repeat_interleave(width), arange(width, from.options()).repeat({n})});
  return with_values(indices, values_of(rows).reshape({-1}), rows.sizes(), true);
}

Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                const Scalar& alpha) {
  TAEDA_CHECK(self.is_sparse(), "sspaddmm: expected 'self' to be sparse");
  const Tensor product = smm(mat1, mat2);
  const Tensor own = beta.equal(1) ? self : self.mul(beta);
  return own.add(product, alpha);
}

namespace {

/// Elements of a coalesced tensor that differ along a sparse dimension alone are a group: its
/// number for each of them, and how many groups there are.
std::pair<Tensor, int64_t> groups_along(const Tensor& t, int64_t dim) {
  NoGradGuard guard;
  const Tensor indices = sparse_parts(t).indices.clone();
  indices.select(0, dim).zero_();
  const auto [keys, group, counts] = unique(sparse_keys(indices, t.sizes()), true);
  return {group, keys.numel()};
}

/// x - log(sum exp x) over each group, or its exponential.
Tensor normalised(const Tensor& x, const Tensor& group, int64_t count, bool logarithm) {
  DimVector sizes = x.sizes();
  sizes[0] = count;
  DimVector column(sizes.size(), 1);
  column[0] = group.numel();
  Tensor largest;
  {
    NoGradGuard guard;
    largest = empty(sizes, x.options())
                  .fill_(-std::numeric_limits<double>::infinity())
                  .scatter_reduce(0, group.view(column).expand(x.sizes()), x.detach(), "amax");
  }
  const Tensor shifted = x.sub(largest.index_select(0, group)), powers = shifted.exp();
  const Tensor sums = zeros(sizes, x.options()).index_add(0, group, powers);
  return logarithm ? shifted.sub(sums.log().index_select(0, group))
                   : powers.div(sums.index_select(0, group));
}

Tensor softmax_of(const Tensor& self, int64_t dim, OptionalDtype dtype, bool logarithm) {
  TAEDA_CHECK(self.is_sparse(), "sparse softmax expected a sparse tensor");
  const Tensor t = (dtype ? self.to(*dtype) : self).coalesce();
  const int64_t d = wrap_dim(dim, t.dim()), dims = t.sparse_dim();
  const SparseParts& parts = sparse_parts(t);
  const Tensor values = values_of(t);
  Tensor out;
  if (d >= dims) {
    out = logarithm ? log_softmax(values, d - dims + 1) : softmax(values, d - dims + 1);
  } else if (values.size(0) == 0) {
    out = values;
  } else {
    const auto [group, count] = groups_along(t, d);
    out = normalised(values, group, count, logarithm);
  }
  return with_values(parts.indices, out, t.sizes(), true);
}

}  // namespace

Tensor sparse::softmax(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  return softmax_of(self, dim, dtype, false);
}
Tensor sparse::log_softmax(const Tensor& self, int64_t dim, OptionalDtype dtype) {
  return softmax_of(self, dim, dtype, true);
}

}  // namespace taeda::inline v0_2
