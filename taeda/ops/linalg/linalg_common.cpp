#include "taeda/ops/linalg/linalg_common.h"

#include "taeda/kernels/linalg.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/linalg/linalg.h"

namespace taeda::inline v0_2::detail {

void check_matrix(const char* op, const Tensor& t, const char* name) {
  TAEDA_CHECK(t.dim() >= 2, op, ": The input tensor ", name, *name ? " " : "",
              "must have at least 2 dimensions.");
}

void check_square(const char* op, const Tensor& t) {
  check_matrix(op, t);
  TAEDA_CHECK(t.size(-1) == t.size(-2), op, ": A must be batches of square matrices, but they are ",
              t.size(-2), " by ", t.size(-1), " matrices");
}

void check_solver_dtype(const char* op, const Tensor& t) {
  const ScalarType s = t.dtype();
  TAEDA_CHECK(is_floating_point(s) || is_complex(s), op,
              ": Expected a floating point or complex tensor as input. Got ", s);
  TAEDA_CHECK_NOT_IMPLEMENTED(to_real_type(s) == kFloat || to_real_type(s) == kDouble, op,
                              ": Low precision dtypes not supported. Got ", s);
}

void check_square_input(const char* op, const Tensor& t) {
  check_square(op, t);
  check_solver_dtype(op, t);
}

IntArrayRef batch_of(const Tensor& t) { return {t.sizes().data(), t.sizes().size() - 2}; }

DimVector shape_of(IntArrayRef batch, std::initializer_list<int64_t> last) {
  DimVector out(batch);
  for (const int64_t n : last) out.push_back(n);
  return out;
}

Tensor empty_columns(IntArrayRef batch, int64_t rows, int64_t columns, const Tensor& like) {
  Layout layout = Layout::contiguous(shape_of(batch, {columns, rows}));
  const int64_t last = layout.ndim() - 1;
  return make_tensor(layout.transpose(last - 1, last), like.dtype(), like.device());
}

Tensor copy_columns(const Tensor& t) {
  const NoGradGuard guard;
  Tensor out = empty_columns(batch_of(t), t.size(-2), t.size(-1), t);
  out.copy_(t);
  return out;
}

Tensor as_columns(const Tensor& t) {
  const int64_t last = t.dim() - 1;
  return t.layout().transpose(last - 1, last).is_contiguous() ? t.detach() : copy_columns(t);
}

Tensor as_batch(const Tensor& t, int64_t keep) {
  const Layout& from = t.layout();
  const auto first = static_cast<size_t>(t.dim() - keep);
  int64_t count = 1, step = 1;
  for (size_t d = 0; d < from.sizes.size(); ++d) (d < first ? count : step) *= from.sizes[d];
  Layout to{{count}, {step}, from.offset};
  for (size_t d = first; d < from.sizes.size(); ++d) {
    to.sizes.push_back(from.sizes[d]);
    to.strides.push_back(from.strides[d]);
  }
  Tensor out = make_alias(t);
  out.unsafe_impl()->layout = std::move(to);
  out.unsafe_impl()->refresh();
  return out;
}

Tensor hermitian_of_lower(const Tensor& t) {
  const Tensor both = t.tril().add(t.tril(-1).mH());
  return t.is_complex() ? both.add(both.mH()).mul(0.5) : both;
}

Tensor eye_like(int64_t rows, int64_t columns, const Tensor& like) {
  return eye(rows, columns, TensorOptions().dtype(like.dtype()).device(like.device()));
}

void check_info(const char* op, const Tensor& info, InfoText text) {
  if (info.is_meta()) return;
  const Tensor host = info.cpu();
  const int32_t* const p = host.data_ptr<int32_t>();
  for (int64_t i = 0; i < host.numel(); ++i) {
    if (p[i] == 0) continue;
    const std::string which = info.dim() == 0 ? "" : concat("(Batch element ", i, "): ");
    throw LinAlgError(concat(op, ": ", which, text(p[i])));
  }
}

Factors lu_decompose(const Tensor& A, bool pivot) {
  const NoGradGuard guard;
  const IntArrayRef batch = batch_of(A);
  const int64_t k = std::min(A.size(-2), A.size(-1));
  Factors f{copy_columns(A), make_tensor(shape_of(batch, {k}), kInt, A.device()),
            make_tensor(batch, kInt, A.device())};
  if (!pivot) f.pivots.copy_(arange(1, k + 1, TensorOptions().dtype(kInt).device(A.device())));
  if (A.numel() > 0)
    lu_slot(A.device().type(), as_batch(f.lu, 2), as_batch(f.pivots, 1), as_batch(f.info, 0),
            pivot);
  else
    f.info.zero_();
  return f;
}

Tensor lu_permutation(const Tensor& pivots, int64_t rows) {
  const IntArrayRef sizes = pivots.sizes();
  Tensor perm =
      make_tensor(shape_of({sizes.data(), sizes.size() - 1}, {rows}), kLong, pivots.device());
  if (perm.numel() > 0)
    lu_permutation_slot(perm.device().type(), as_batch(perm, 1),
                        as_batch(pivots.detach().contiguous(), 1));
  return perm;
}

Unpacked lu_unpack(const Tensor& lu, const Tensor& pivots) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  Unpacked out;
  out.l = lu.narrow(-1, 0, k).tril(-1).add(eye_like(m, k, lu));
  out.u = lu.narrow(-2, 0, k).triu();
  if (pivots.defined()) {
    const NoGradGuard guard;
    out.p = make_tensor(shape_of(batch_of(lu), {m, m}), lu.dtype(), lu.device());
    out.p.zero_();
    if (m > 0) out.p.scatter_(-2, lu_permutation(pivots, m).unsqueeze(-2), 1);
  }
  return out;
}

void solve_triangular_in_place(const Tensor& a, const Tensor& x, bool upper, bool transpose,
                               bool unitriangular) {
  if (x.numel() == 0) return;
  // A matrix by rows is its transpose by columns.
  const bool by_rows = a.is_contiguous();
  triangular_solve_slot(x.device().type(), as_batch(as_columns(by_rows ? a.mT() : a), 2),
                        as_batch(x, 2), upper != by_rows, transpose != by_rows, unitriangular);
}

}  // namespace taeda::inline v0_2::detail
