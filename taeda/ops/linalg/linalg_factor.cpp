// Cholesky, LU and LDL decomposition.
#include "bodies/linalg.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/linalg.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

std::string not_positive(int64_t info) {
  return concat(
      "The factorization could not be completed because the input is not positive-definite (the "
      "leading minor of order ",
      info, " is not positive-definite).");
}

std::string zero_in_u(int64_t info) {
  return concat("U[", info, ",", info,
                "] is zero and using it on lu_solve would result in a division by zero. If you "
                "still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                "linalg.lu_factor_ex(A, pivot)");
}

/// I. Murray, "Differentiation of the Cholesky decomposition" (2016), equation 10, for a symmetric
/// change: L^-H (X + X^H) L^-1 / 2, X the lower triangle of L^H g with half the diagonal.
Tensor cholesky_backward(const Tensor& g, const Tensor& l) {
  const Tensor lh = l.mH(), both = hermitian_of_lower(lh.matmul(g));
  return solve_triangular(l, solve_triangular(lh, both, true), false, false).mul(0.5);
}

/// With PA = LU, M = L^-1 P dA U^-1: its lower triangle is L^-1 dL, its upper one dU U^-1. What is
/// beyond the square part depends on both.
Tensor lu_backward(const Tensor& g, const Unpacked& f) {
  const int64_t m = f.l.size(-2), n = f.u.size(-1), k = std::min(m, n);
  const Tensor l = f.l.narrow(-2, 0, k), u = f.u.narrow(-1, 0, k);
  const Tensor square = g.narrow(-1, 0, k).narrow(-2, 0, k);
  const auto by_l = [&](const Tensor& t) {  // L^-H t
    return solve_triangular(l.mH(), t, true, true, true);
  };
  const auto by_u = [&](const Tensor& t) {  // t U^-H
    return solve_triangular(u.mH(), t, false, false);
  };
  Tensor lower = l.mH().matmul(square), upper = square.matmul(u.mH()), beyond;
  if (n > k) {
    beyond = g.narrow(-1, k, n - k);
    lower = lower.sub(beyond.matmul(f.u.narrow(-1, k, n - k).mH()));
  } else if (m > k) {
    beyond = g.narrow(-2, k, m - k);
    upper = upper.sub(f.l.narrow(-2, k, m - k).mH().matmul(beyond));
  }
  Tensor out = by_u(by_l(lower.tril(-1).add(upper.triu())));
  if (n > k) out = cat({out, by_l(beyond)}, -1);
  if (m > k) out = cat({out, by_u(beyond)}, -2);
  return f.p.defined() ? f.p.matmul(out) : out;
}

}  // namespace

std::tuple<Tensor, Tensor> do_cholesky_ex(const Tensor& A, bool upper, bool check_errors) {
  check_square_input("linalg.cholesky", A);
  if (upper) {
    auto [l, info] = cholesky_ex(A.mT(), false, check_errors);
    return {l.mT(), info};
  }
  Tensor l = copy_columns(A), info = make_tensor(batch_of(A), kInt, A.device());
  if (A.numel() > 0) {
    cholesky_slot(A.device().type(), as_batch(l, 2), as_batch(info, 0));
    l = l.tril();
  } else {
    info.zero_();
  }
  if (check_errors) check_info("linalg.cholesky", info, not_positive);
  if (wants_grad(A))
    record("LinalgCholeskyExBackward0", l, {A},
           [l = save_output(l)](const Tensor& g) { return cholesky_backward(g, l.unpack()); });
  return {l, info};
}

Tensor do_cholesky(const Tensor& A, bool upper) { return std::get<0>(cholesky_ex(A, upper, true)); }

std::tuple<Tensor, Tensor, Tensor> do_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  TAEDA_CHECK(A.dim() >= 2,
              "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: ", A.sizes(),
              " instead");
  check_solver_dtype("linalg.lu_factor", A);
  Factors f = lu_decompose(A, pivot);
  if (check_errors) check_info("torch.linalg.lu_factor", f.info, zero_in_u);
  if (wants_grad(A))
    record("LinalgLuFactorExBackward0", f.lu, {A},
           [lu = save_output(f.lu), pivots = save_if(pivot, f.pivots, "pivots")](const Tensor& g) {
             return lu_backward(g, lu_unpack(lu.unpack(), pivots.unpack()));
           });
  return {f.lu, f.pivots, f.info};
}

std::tuple<Tensor, Tensor> do_lu_factor(const Tensor& A, bool pivot) {
  auto [lu, pivots, info] = lu_factor_ex(A, pivot, true);
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> do_lu(const Tensor& A, bool pivot) {
  TAEDA_CHECK(A.dim() >= 2,
              "linalg.lu: Expected tensor with 2 or more dimensions. Got size: ", A.sizes(),
              " instead");
  const auto [packed, pivots, info] = lu_factor_ex(A, pivot);
  Unpacked f = lu_unpack(packed, pivot ? pivots : Tensor());
  return {pivot ? f.p : A.new_empty({0}), f.l, f.u};
}

// ---- L D L^T ----

namespace {

std::string ldl_failed(int64_t info) {
  return concat(
      "The factorization has been completed, but the block diagonal matrix D is exactly "
      "singular: D[",
      info, ",", info,
      "] is zero. Division by zero will occur if it is used to solve a "
      "system of equations.");
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> do_ldl_factor_ex(const Tensor& self, bool hermitian,
                                                    bool check_errors) {
  check_square_input("torch.linalg.ldl_factor_ex", self);
  const Device device = device_with(ldl_factor_slot, self);
  const IntArrayRef batch = batch_of(self);
  Tensor LD, pivots, info;
  {
    const NoGradGuard guard;
    const Tensor a = copy_columns(self.detach().to(device));
    pivots = make_tensor(shape_of(batch, {self.size(-1)}), kInt, device);
    info = zeros(batch, TensorOptions().dtype(kInt).device(device));
    if (self.numel() > 0)
      ldl_factor_slot(device.type(), as_batch(a, 2), as_batch(pivots, 1), as_batch(info, 0),
                      hermitian);
    LD = a.tril().to(self.device());
    pivots = pivots.to(self.device());
    info = info.to(self.device());
  }
  if (check_errors) check_info("linalg.ldl_factor_ex", info, ldl_failed);
  if (wants_grad(self))
    record("LinalgLdlFactorExBackward0", LD, {self}, [](const Tensor&) -> Tensor {
      throw NotImplementedError("the derivative for 'linalg_ldl_factor_ex' is not implemented.");
    });
  return {LD, pivots, info};
}

std::tuple<Tensor, Tensor> do_ldl_factor(const Tensor& self, bool hermitian) {
  const auto [LD, pivots, info] = ldl_factor_ex(self, hermitian, false);
  check_info("torch.linalg.ldl_factor", info, ldl_failed);
  return {LD, pivots};
}

namespace {

void check_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B) {
  check_square_input("torch.linalg.ldl_solve", LD);
  TAEDA_CHECK(B.dim() >= 2,
              "torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, "
              "but it has ",
              B.dim(), " dimensions instead");
  TAEDA_CHECK(is_integral(pivots.dtype(), false),
              "torch.linalg.ldl_solve: Expected pivots to be integers. Got ", pivots.dtype());
  TAEDA_CHECK(B.dtype() == LD.dtype(),
              "Expected b and A to have the same dtype, but found b of type ", to_string(B.dtype()),
              " and A of type ", to_string(LD.dtype()), " instead.");
  TAEDA_CHECK(pivots.sizes() == LD.sizes().slice(0, LD.sizes().size() - 1),
              "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but "
              "got pivots with shape ",
              pivots.sizes(), " instead");
  for (const Tensor* t : {&pivots, &B})
    TAEDA_CHECK(t->device() == LD.device(), "Expected all tensors to be on the same device, but ",
                "found LD on ", LD.device(), " and another on ", t->device());
  TAEDA_CHECK(B.size(-2) == LD.size(-1),
              "Incompatible matrix sizes for torch.linalg.ldl_solve: ", "each A matrix is ",
              LD.size(-1), " by ", LD.size(-1), " but each b matrix is ", B.size(-2), " by ",
              B.size(-1));
}

/// Throws Error for pivots that name no rows, with which LAPACK would leave the matrix: rows of
/// blocks of two have one negative number each, twice.
void check_pivots(const Tensor& pivots, int64_t n) {
  detail::check_not_recording("ldl_solve");
  const int32_t* const p = pivots.data_ptr<int32_t>();
  for (int64_t i = 0; i < pivots.numel();) {
    const bool pair = p[i] < 0;
    const int64_t row = pair ? -int64_t{p[i]} : p[i];
    const bool named = row >= 1 && row <= n;
    TAEDA_CHECK(named && (!pair || (i % n + 1 < n && p[i + 1] == p[i])),
                "torch.linalg.ldl_solve: pivots are not ldl_factor's: for ", n,
                " rows there is a pivot ", p[i], " at place ", i % n);
    i += pair ? 2 : 1;
  }
}

}  // namespace

Tensor do_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
  check_ldl_solve(LD, pivots, B);
  const int64_t n = LD.size(-1);
  const DimVector batch = broadcast_sizes(batch_of(LD), batch_of(B));
  const Device device = device_with(ldl_solve_slot, LD);
  Tensor X;
  {
    const NoGradGuard guard;
    const auto spread = [&](const Tensor& t, std::initializer_list<int64_t> last) {
      return t.detach().to(device).expand(shape_of(batch, last));
    };
    const Tensor x = copy_columns(spread(B, {n, B.size(-1)})), a = copy_columns(spread(LD, {n, n})),
                 rows = spread(pivots, {n}).to(kInt).contiguous();
    if (!rows.is_meta()) check_pivots(rows.cpu(), n);
    if (x.numel() > 0)
      ldl_solve_slot(device.type(), as_batch(a, 2), as_batch(rows, 1), as_batch(x, 2), hermitian);
    X = x.to(B.device());
  }
  if (wants_grad(LD, B))
    record("LinalgLdlSolveBackward0", X, {LD, B}, [](const Tensor&, Needs) -> TensorVec {
      throw NotImplementedError("the derivative for 'linalg_ldl_solve' is not implemented.");
    });
  return X;
}

}  // namespace taeda::inline v0_2::linalg
