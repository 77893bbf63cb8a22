// Cholesky and LU decomposition.
#include "bodies/linalg.h"
#include "taeda/kernels/linalg.h"
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

}  // namespace taeda::inline v0_2::linalg
