// Linear systems, inverses and determinants.
#include <limits>

#include "bodies/linalg.h"
#include "taeda/ops/autocast.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/special.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/fused_backward.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/autocast_mode.h"
#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

std::string singular(int64_t) { return "The solver failed because the input matrix is singular."; }

std::string zero_on_diagonal(int64_t info) {
  return concat("The diagonal element ", info,
                " is zero, the inversion could not be completed because the input matrix is "
                "singular.");
}

std::string shape_text(const Tensor& t) { return concat(t.size(-2), "x", t.size(-1)); }

/// A and B of a system, matrices with common batch dimensions where `B` is concerned.
void check_system(const char* op, const Tensor& A, const Tensor& B, bool left) {
  check_same_device(op, {&A, &B});
  TAEDA_CHECK(A.dtype() == B.dtype(), op,
              ": Expected A and B to have the same dtype, but found A of type ", A.dtype(),
              " and B of type ", B.dtype(), " instead");
  check_matrix(op, B, "B");
  TAEDA_CHECK(A.size(-1) == B.size(left ? -2 : -1), op,
              ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
              " (", shape_text(A), " and ", shape_text(B), ")");
}

Tensor expand_batch(const Tensor& t, IntArrayRef batch) {
  return batch_of(t) == batch ? t : t.expand(shape_of(batch, {t.size(-2), t.size(-1)}));
}

/// The matrix's rows in another order: row i is row perm[i].
Tensor permute_rows(const Tensor& t, const Tensor& perm) {
  if (t.numel() == 0) return t;
  return t.gather(-2, perm.unsqueeze(-1).expand(t.sizes()));
}

/// X with A X = B, or A^H X = B if `adjoint`, without a history. B has the wider batch.
Tensor solve_factored(const Tensor& lu, const Tensor& pivots, const Tensor& B, bool adjoint) {
  const NoGradGuard guard;
  const IntArrayRef batch = batch_of(B);
  const Tensor matrix = expand_batch(lu, batch);
  const Tensor perm = lu_permutation(pivots, lu.size(-1)).expand(shape_of(batch, {lu.size(-1)}));
  if (!adjoint) {
    const Tensor x = copy_columns(permute_rows(B, perm));
    solve_triangular_in_place(matrix, x, false, false, true);
    solve_triangular_in_place(matrix, x, true, false, false);
    return x;
  }
  // A^T conj(X) = conj(B)
  const Tensor x = copy_columns(B.conj());
  solve_triangular_in_place(matrix, x, true, true, false);
  solve_triangular_in_place(matrix, x, false, true, true);
  return permute_rows(x.conj(), perm.argsort(-1));
}

/// solve_ex of matrices; B has the batch dimensions of the result.
std::tuple<Tensor, Tensor> solve_matrices(const Tensor& A, const Tensor& B, bool check_errors) {
  const Factors f = lu_decompose(A);
  if (check_errors) check_info("torch.linalg.solve", f.info, singular);
  Tensor x = solve_factored(f.lu, f.pivots, B, false);
  if (wants_grad(A, B))
    record("LinalgSolveExBackward0", x, {A, B},
           [A = save_tensor(A, "A"), x = save_output(x), lu = save_tensor(f.lu, "lu"),
            pivots = save_tensor(f.pivots, "pivots")](const Tensor& g, Needs needs) {
             const Tensor gb = fused_or_differentiable(
                 [&] { return solve_factored(lu.unpack(), pivots.unpack(), g, true); },
                 [&] { return std::get<0>(solve_ex(A.unpack().mH(), g)); });
             return TensorVec{needs[0] ? gb.matmul(x.unpack().mH()).neg() : Tensor(), gb};
           });
  return {x, f.info};
}

bool is_vector_system(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() &&
                          B.sizes() == IntArrayRef(A.sizes().data(), A.sizes().size() - 1));
}

/// -1 where the number of exchanged rows is odd, else 1.
Tensor sign_of_permutation(const Tensor& pivots, const Tensor& like) {
  const int64_t n = pivots.size(-1);
  const Tensor in_order = arange(1, n + 1, TensorOptions().dtype(kInt).device(pivots.device()));
  const Tensor odd = pivots.ne(in_order).sum(IntArrayRef({-1})).remainder(2);
  return odd.to(like.dtype()).mul(-2).add(1);
}

Tensor diagonal_of(const Tensor& t) { return t.diagonal(0, -2, -1); }

/// The gradient of det for any matrix: conj(|U| |Vh|) U diag(products of the other singular values)
/// Vh.
Tensor cofactors_by_svd(const Tensor& A) {
  const auto [u, s, vh] = linalg::svd(A, false);
  const Tensor one = s.narrow(-1, 0, 1).mul(0).add(1);
  const int64_t n = s.size(-1);
  const Tensor before = cat({one, s.narrow(-1, 0, n - 1)}, -1).cumprod(-1);
  const Tensor after = cat({one, s.flip({-1}).narrow(-1, 0, n - 1)}, -1).cumprod(-1).flip({-1});
  const Tensor sign = det(u.detach()).mul(det(vh.detach())).conj();
  const Tensor scale = before.mul(after).mul(sign.unsqueeze(-1));
  return u.mul(scale.unsqueeze(-2)).matmul(vh);
}

Tensor cofactors(const Tensor& A, const Tensor& determinant) {
  if (A.numel() > 0 && !A.is_meta() && determinant.detach().eq(0).any().item<bool>())
    return cofactors_by_svd(A);
  return std::get<0>(inv_ex(A)).mH().mul(determinant.conj().unsqueeze(-1).unsqueeze(-1));
}

/// The sign of a complex matrix turns with the imaginary part of tr(A^-1 dA).
Tensor slogdet_backward(const Tensor& gsign, const Tensor& glog, const Tensor& A,
                        const Tensor& sign) {
  Tensor g = glog;
  if (gsign.defined()) {
    const Tensor turn = imag(gsign.conj().mul(sign));
    const Tensor through_sign = make_complex(taeda::zeros_like(turn), turn.neg());
    g = g.defined() ? through_sign.add(g) : through_sign;
  }
  return std::get<0>(inv_ex(A)).mH().mul(g.unsqueeze(-1).unsqueeze(-1));
}

/// slogdet under another operation's name.
std::tuple<Tensor, Tensor> sign_and_log(const char* op, const Tensor& A) {
  check_square_input(op, A);
  const Factors f = lu_decompose(A);
  Tensor sign, logarithm;
  {
    const NoGradGuard guard;
    const Tensor diagonal = diagonal_of(f.lu);
    sign = diagonal.sgn().prod(-1).mul(sign_of_permutation(f.pivots, A));
    logarithm = diagonal.abs().log().sum(IntArrayRef({-1}));
  }
  if (wants_grad(A) && A.is_complex())
    record_multi("LinalgSlogdetBackward0", {sign, logarithm}, {A},
                 [A = save_tensor(A, "A"), sign = save_output(sign, 0)](const TensorVec& g, Needs) {
                   return TensorVec{slogdet_backward(g[0], g[1], A.unpack(), sign.unpack())};
                 });
  else if (wants_grad(A))
    record("LinalgSlogdetBackward0", logarithm, {A}, [A = save_tensor(A, "A")](const Tensor& g) {
      return slogdet_backward({}, g, A.unpack(), {});
    });
  return {sign, logarithm};
}

}  // namespace

std::tuple<Tensor, Tensor> do_solve_ex(const Tensor& A, const Tensor& B, bool left,
                                       bool check_errors) {
  const char* const op = "linalg.solve";
  check_square_input(op, A);
  const bool vector = is_vector_system(A, B);
  TAEDA_CHECK(left || !vector, op,
              ": Vector broadcasting of the left hand side is not supported for left=False. In "
              "this case linalg.solve is equivalent to B / A.squeeze(-1)");
  const Tensor right = vector ? B.unsqueeze(-1) : B;
  check_system(op, A, right, left);
  if (!left) {
    auto [x, info] = solve_ex(A.mT(), right.mT(), true, check_errors);
    return {x.mT(), info};
  }
  const DimVector batch = broadcast_sizes(batch_of(right), batch_of(A));
  auto [x, info] = solve_matrices(A, expand_batch(right, batch), check_errors);
  return {vector ? x.squeeze(-1) : x, info};
}

Tensor do_solve(const Tensor& A, const Tensor& B, bool left) {
  return std::get<0>(solve_ex(A, B, left, true));
}

Tensor do_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left,
                           bool unitriangular) {
  const char* const op = "linalg.solve_triangular";
  check_square_input(op, A);
  check_system(op, A, B, left);
  if (!left) return solve_triangular(A.mT(), B.mT(), !upper, true, unitriangular).mT();
  const DimVector batch = broadcast_sizes(batch_of(B), batch_of(A));
  const Tensor matrix = expand_batch(A, batch), right = expand_batch(B, batch);
  Tensor x = copy_columns(right);
  solve_triangular_in_place(matrix.detach(), x, upper, false, unitriangular);
  if (wants_grad(matrix, right))
    record("LinalgSolveTriangularBackward0", x, {matrix, right},
           [a = save_tensor(matrix, "matrix"), x = save_output(x), upper, unitriangular](
               const Tensor& g, Needs needs) {
             const Tensor gb = solve_triangular(a.unpack().mH(), g, !upper, true, unitriangular);
             Tensor ga;
             if (needs[0]) {
               ga = gb.matmul(x.unpack().mH()).neg();
               ga = upper ? ga.triu(unitriangular ? 1 : 0) : ga.tril(unitriangular ? -1 : 0);
             }
             return TensorVec{ga, gb};
           });
  return x;
}

std::tuple<Tensor, Tensor> do_inv_ex(const Tensor& A, bool check_errors) {
  check_square_input("linalg.inv", A);
  const Factors f = lu_decompose(A);
  if (check_errors) check_info("linalg.inv", f.info, zero_on_diagonal);
  Tensor x =
      solve_factored(f.lu, f.pivots, eye_like(A.size(-1), A.size(-1), A).expand(A.sizes()), false);
  if (wants_grad(A))
    record("LinalgInvExBackward0", x, {A}, [x = save_output(x)](const Tensor& g) {
      const Tensor adjoint = x.unpack().mH();
      return adjoint.matmul(g).matmul(adjoint).neg();
    });
  return {x, f.info};
}

Tensor do_inv(const Tensor& A) { return std::get<0>(inv_ex(A, true)); }

Tensor do_det(const Tensor& A) {
  check_square_input("linalg.det", A);
  Tensor out;
  {
    const Factors f = lu_decompose(A);
    const NoGradGuard guard;
    out = diagonal_of(f.lu).prod(-1).mul(sign_of_permutation(f.pivots, A));
  }
  if (wants_grad(A))
    record("LinalgDetBackward0", out, {A},
           [A = save_tensor(A, "A"), out = save_output(out)](const Tensor& g) {
             return cofactors(A.unpack(), out.unpack()).mul(g.unsqueeze(-1).unsqueeze(-1));
           });
  return out;
}

std::tuple<Tensor, Tensor> do_slogdet(const Tensor& A) { return sign_and_log("linalg.slogdet", A); }

namespace {

/// They name rows, counted from 1, that a solver exchanges without looking.
void check_pivots(const char* op, const Tensor& pivots) {
  if (pivots.numel() == 0 || pivots.is_meta()) return;
  const auto [least, most] = pivots.aminmax();
  const int low = least.item<int>(), high = most.item<int>();
  TAEDA_CHECK(low >= 1 && high <= pivots.size(-1), op, ": pivots must be between 1 and ",
              pivots.size(-1), ", the number of rows, but got ", low < 1 ? low : high);
}

}  // namespace

Tensor do_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left,
                   bool adjoint) {
  const char* const op = "linalg.lu_solve";
  check_square_input(op, LU);
  TAEDA_CHECK(pivots.dtype() == kInt, op,
              ": pivots should be a Tensor of scalar type torch.int32. Got ", pivots.dtype());
  TAEDA_CHECK(pivots.dim() >= 1 && pivots.size(-1) == LU.size(-1), op,
              ": Number of pivots per batch should be same as the dimension of the matrix");
  check_system(op, LU, B, left);
  check_same_device(op, {&LU, &pivots});
  check_pivots(op, pivots);
  if (!left) return lu_solve(LU, pivots, B.mH(), true, !adjoint).mH();
  const Tensor right = expand_batch(B, broadcast_sizes(batch_of(B), batch_of(LU)));
  if (!wants_grad(LU, B)) return solve_factored(LU, pivots, right, adjoint);
  const AutocastMode::Pause pause;
  const Unpacked f = lu_unpack(LU, pivots);
  if (adjoint)
    return f.p.matmul(
        solve_triangular(f.l.mH(), solve_triangular(f.u.mH(), right, false), true, true, true));
  return solve_triangular(f.u, solve_triangular(f.l, f.p.mT().matmul(right), false, true, true),
                          true);
}

}  // namespace taeda::inline v0_2::linalg

namespace taeda::inline v0_2 {

Tensor do_logdet(const Tensor& self) {
  const auto [sign, logarithm] = linalg::sign_and_log("logdet", self);
  if (self.is_complex()) return sign.log().add(logarithm);
  return logarithm.masked_fill(sign.lt(0), std::numeric_limits<double>::quiet_NaN());
}

Tensor do_cholesky_solve(const Tensor& B, const Tensor& L, bool upper) {
  const bool recorded = autograd::wants_grad(B, L);
  Tensor x;
  {
    const NoGradGuard guard;
    const Tensor l = upper ? L.mH() : L;
    x = linalg::solve_triangular(l.mH(), linalg::solve_triangular(l, B, false), true);
  }
  // L is triangular by contract: its gradient is that of a factor of L L', in both triangles.
  if (recorded)
    autograd::record("CholeskySolveBackward0", x, {B, L},
                     [l = autograd::save_tensor(L, "L"), x = autograd::save_output(x), upper](
                         const Tensor& g, autograd::Needs needs) {
                       const Tensor factor = l.unpack(), gb = cholesky_solve(g, factor, upper);
                       if (!needs[1]) return autograd::TensorVec{gb, {}};
                       const Tensor half = gb.matmul(x.unpack().mH()).neg(),
                                    ga = half.add(half.mH());
                       return autograd::TensorVec{
                           gb, upper ? factor.triu().matmul(ga) : ga.matmul(factor.tril())};
                     });
  return x;
}

Tensor do_cholesky_inverse(const Tensor& L, bool upper) {
  detail::check_square("cholesky_inverse", L);
  return cholesky_solve(detail::eye_like(L.size(-1), L.size(-1), L), L, upper);
}

}  // namespace taeda::inline v0_2
