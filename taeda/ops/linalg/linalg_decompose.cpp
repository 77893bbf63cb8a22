// QR, eigenvalue and singular value decomposition.
#include <algorithm>
#include <cctype>

#include "bodies/linalg.h"
#include "taeda/kernels/linalg.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

/// Row i of the matrix times v[i]; column j times v[j].
Tensor scale_rows(const Tensor& v, const Tensor& t) { return t.mul(v.unsqueeze(-1)); }
Tensor scale_columns(const Tensor& t, const Tensor& v) { return t.mul(v.unsqueeze(-2)); }

/// x[j] - x[i], and 1 on the diagonal.
Tensor differences(const Tensor& x) {
  return x.unsqueeze(-2).sub(x.unsqueeze(-1)).add(eye_like(x.size(-1), x.size(-1), x));
}

/// M. Seeger et al., "Auto-Differentiating Linear Algebra" (2017): (gQ + Q S) R^-H, S Hermitian
/// with the lower triangle of R gR^H - gQ^H Q. Undefined gradients count as zeros.
Tensor tall_qr_backward(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  Tensor m;
  if (gr.defined()) m = r.matmul(gr.mH());
  if (gq.defined()) {
    const Tensor inner = gq.mH().matmul(q);
    m = m.defined() ? m.sub(inner) : inner.neg();
  }
  Tensor inside = q.matmul(hermitian_of_lower(m));
  if (gq.defined()) inside = inside.add(gq);
  return solve_triangular(r.mH(), inside, false, false);
}

/// Of A = [X, Y], more columns than rows, X = Q U is decomposed, and R = [U, Q^H Y].
Tensor qr_backward(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  const int64_t rows = q.size(-2), columns = r.size(-1);
  if (columns <= rows) return tall_qr_backward(gq, gr, q, r);
  const int64_t beyond = columns - rows;
  const Tensor u = r.narrow(-1, 0, rows), v = r.narrow(-1, rows, beyond);
  Tensor gq_all = gq, gu, gy;
  if (gr.defined()) {
    const Tensor gv = gr.narrow(-1, rows, beyond);
    const Tensor through_q = q.matmul(v).matmul(gv.mH());
    gq_all = gq.defined() ? gq.add(through_q) : through_q;
    gu = gr.narrow(-1, 0, rows);
    gy = q.matmul(gv);
  } else {
    gy = q.matmul(v).mul(0);
  }
  return cat({tall_qr_backward(gq_all, gu, q, u), gy}, -1);
}

/// Throws Error if the loss depends on the phases of complex vectors, which nobody chose. `inner`:
/// the vectors' products with their gradients.
void check_phases(const Tensor& inner, const char* message) {
  if (!inner.is_complex() || inner.is_meta() || inner.numel() == 0) return;
  const Tensor phases = imag(taeda::diagonal(inner.detach(), 0, -2, -1));
  TAEDA_CHECK(phases.abs().max().item<double>() <= 1e-2, message);
}

Tensor without_diagonal(const Tensor& t) { return t.tril(-1).add(t.triu(1)); }

Tensor eigh_backward(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v) {
  const Tensor vh = v.mH();
  if (!gv.defined()) return scale_columns(v, gw).matmul(vh);
  const Tensor inner = vh.matmul(gv);
  check_phases(inner,
               "linalg_eigh_backward: The eigenvectors in the complex case are specified up to "
               "multiplication by e^{i phi}. The specified loss function depends on this quantity, "
               "so it is ill-defined.");
  Tensor inside = without_diagonal(inner.div(differences(w)));
  if (gw.defined()) inside = inside.add(diag_embed(gw));
  return v.matmul(inside).matmul(vh);
}

/// Townsend (2016) for at least as many rows as columns; u has as many columns as A. For complex
/// matrices with what turns the vectors' phases: Z. Wan, S. Zhang, "Automatic differentiation for
/// complex valued SVD" (2019).
Tensor svd_backward(const Tensor& gu, const Tensor& gs, const Tensor& gvh, const Tensor& u,
                    const Tensor& s, const Tensor& vh) {
  if (!gu.defined() && !gvh.defined()) return scale_columns(u, gs).matmul(vh);
  const Tensor e = differences(s.mul(s));
  Tensor inside, out, inner;
  const auto add = [](Tensor& to, const Tensor& t) { to = to.defined() ? to.add(t) : t; };
  if (gs.defined()) add(inside, diag_embed(gs));
  if (gvh.defined()) {
    const Tensor x = vh.matmul(gvh.mH());
    add(inside, scale_rows(s, without_diagonal(x.sub(x.mH())).div(e)));
    add(inner, x);
  }
  if (gu.defined()) {
    const Tensor x = u.mH().matmul(gu), turn = x.sub(x.mH());
    add(inside, scale_columns(without_diagonal(turn).div(e), s));
    if (u.is_complex()) add(inside, diag_embed(taeda::diagonal(turn, 0, -2, -1).div(s.mul(2))));
    add(inner, x);
    if (u.size(-2) > u.size(-1)) out = gu.sub(u.matmul(x)).div(s.unsqueeze(-2)).matmul(vh);
  }
  check_phases(inner,
               "svd_backward: The singular vectors in the complex case are specified up to "
               "multiplication by e^{i phi}. The specified loss function depends on this phase "
               "term, making it ill-defined.");
  add(out, u.matmul(inside).matmul(vh));
  return out;
}

std::string eigenvalues_failed(int64_t info) {
  return concat(
      "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
      "many repeated eigenvalues (error code: ",
      info, ").");
}

std::string svd_failed(int64_t info) {
  if (info < 0)
    return "The algorithm failed to converge because the input matrix contained non-finite values.";
  return concat(
      "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
      "many repeated singular values (error code: ",
      info, ").");
}

bool reads_upper(std::string_view uplo) {
  const char c = uplo.empty() ? '?' : static_cast<char>(std::toupper(uplo[0]));
  TAEDA_CHECK(c == 'L' || c == 'U', "Expected UPLO argument to be 'L' or 'U', but got ", uplo);
  return c == 'U';
}

/// Eigenvalues, and eigenvectors if wanted, from the lower triangle; no history.
std::tuple<Tensor, Tensor> eigh_values(const Tensor& A, bool vectors) {
  const NoGradGuard guard;
  Tensor v = copy_columns(A);
  Tensor w = make_tensor(shape_of(batch_of(A), {A.size(-1)}), to_real_type(A.dtype()), A.device());
  if (A.numel() > 0) {
    const Tensor info = make_tensor(batch_of(A), kInt, A.device());
    eigh_slot(A.device().type(), as_batch(v, 2), as_batch(w, 1), as_batch(info, 0), vectors);
    check_info("linalg.eigh", info, eigenvalues_failed);
  }
  return {w, v};
}

struct Singular {
  Tensor u, s, vh;
};

/// Of at least as many rows as columns; no history. `columns` of U, 0 for singular values alone.
Singular svd_values(const Tensor& A, int64_t columns) {
  const NoGradGuard guard;
  const IntArrayRef batch = batch_of(A);
  const int64_t m = A.size(-2), n = A.size(-1);
  Singular out;
  out.s = make_tensor(shape_of(batch, {n}), to_real_type(A.dtype()), A.device());
  if (columns > 0 || n == 0) {
    out.u = empty_columns(batch, m, columns, A);
    out.vh = empty_columns(batch, n, n, A);
  }
  if (A.numel() == 0) {
    if (out.u.defined()) out.u.copy_(eye_like(m, columns, A).expand(out.u.sizes()));
    return out;
  }
  // LAPACK would print to the standard output, and need not come back.
  check_info("linalg.svd", A.isfinite().logical_not().flatten(-2).any(-1).to(kInt).neg(),
             svd_failed);
  const Tensor info = make_tensor(batch, kInt, A.device());
  const auto flat = [](const Tensor& t) { return t.defined() ? as_batch(t, 2) : t; };
  svd_slot(A.device().type(), as_batch(copy_columns(A), 2), flat(out.u), as_batch(out.s, 1),
           flat(out.vh), as_batch(info, 0));
  check_info("linalg.svd", info, svd_failed);
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor> do_qr(const Tensor& A, std::string_view mode) {
  check_matrix("linalg.qr", A);
  check_solver_dtype("linalg.qr", A);
  const bool with_q = mode != "r", complete = mode == "complete";
  TAEDA_CHECK(mode == "reduced" || complete || !with_q, "qr received unrecognized mode '", mode,
              "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1), columns = complete ? m : std::min(m, n);
  const Tensor a = copy_columns(A);
  Tensor q, r;
  if (with_q) q = empty_columns(batch_of(A), m, columns, A);
  if (A.numel() > 0)
    qr_slot(A.device().type(), as_batch(a, 2), with_q ? as_batch(q, 2) : q);
  else if (with_q)
    q.copy_(eye_like(m, columns, A).expand(q.sizes()));
  r = a.narrow(-2, 0, columns).triu();
  if (!with_q) {
    if (wants_grad(A))
      record("LinalgQrBackward0", r, {A}, [](const Tensor&) -> Tensor {
        throw Error(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr.");
      });
    return {A.new_empty({0}), r};
  }
  if (wants_grad(A))
    record_multi(
        "LinalgQrBackward0", {q, r}, {A},
        [q = save_output(q, 0), r = save_output(r, 1), complete](const TensorVec& g, Needs) {
          const Tensor Q = q.unpack(), R = r.unpack();
          TAEDA_CHECK(!complete || Q.size(-2) <= R.size(-1),
                      "The QR decomposition is not differentiable when mode='complete' "
                      "and nrows > ncols.");
          return TensorVec{qr_backward(g[0], g[1], Q, R)};
        });
  return {q, r};
}

std::tuple<Tensor, Tensor> do_eigh(const Tensor& A, std::string_view UPLO) {
  check_square_input("linalg.eigh", A);
  if (reads_upper(UPLO)) return eigh(A.mH(), "L");
  auto [w, v] = eigh_values(A, true);
  if (wants_grad(A))
    record_multi("LinalgEighBackward0", {w, v}, {A},
                 [w = save_output(w, 0), v = save_output(v, 1)](const TensorVec& g, Needs) {
                   return TensorVec{eigh_backward(g[0], g[1], w.unpack(), v.unpack())};
                 });
  return {w, v};
}

Tensor do_eigvalsh(const Tensor& A, std::string_view UPLO) {
  if (wants_grad(A)) return std::get<0>(eigh(A, UPLO));
  check_square_input("linalg.eigh", A);
  return std::get<0>(eigh_values(reads_upper(UPLO) ? A.mH() : A, false));
}

/// Which algorithm computes them can be said for CUDA alone.
static void check_driver(const Tensor& A, std::optional<std::string_view> driver) {
  TAEDA_CHECK(!driver || A.is_cuda(),
              "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
              "cuSOLVER backend.");
}

std::tuple<Tensor, Tensor, Tensor> do_svd(const Tensor& A, bool full_matrices,
                                          std::optional<std::string_view> driver) {
  check_matrix("linalg.svd", A);
  check_solver_dtype("linalg.svd", A);
  check_driver(A, driver);
  const int64_t m = A.size(-2), n = A.size(-1);
  if (m < n) {
    const auto [u, s, vh] = linalg::svd(A.mT(), full_matrices);
    return {vh.mT(), s, u.mT()};
  }
  Singular f = svd_values(A, full_matrices ? m : n);
  if (wants_grad(A))
    record_multi("LinalgSvdBackward0", {f.u, f.s, f.vh}, {A},
                 [u = save_output(f.u, 0), s = save_output(f.s, 1), vh = save_output(f.vh, 2), n](
                     const TensorVec& g, Needs) {
                   const Tensor gu = g[0].defined() ? g[0].narrow(-1, 0, n) : Tensor();
                   return TensorVec{svd_backward(gu, g[1], g[2], u.unpack().narrow(-1, 0, n),
                                                 s.unpack(), vh.unpack())};
                 });
  return {f.u, f.s, f.vh};
}

Tensor do_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  if (wants_grad(A)) return std::get<1>(linalg::svd(A, false, driver));
  check_matrix("linalg.svd", A);
  check_solver_dtype("linalg.svd", A);
  check_driver(A, driver);
  return svd_values(A.size(-2) < A.size(-1) ? A.mT() : A, 0).s;
}

// ---- of any square matrix ----

namespace {

/// Eigenvalues, and eigenvectors if wanted; no history.
std::tuple<Tensor, Tensor> eig_values(const Tensor& A, bool vectors) {
  const NoGradGuard guard;
  check_square_input("linalg.eig", A);
  const ScalarType dtype = to_complex_type(A.dtype());
  const Device device = device_with(eig_slot, A);
  const IntArrayRef batch = batch_of(A);
  const int64_t n = A.size(-1);
  Tensor w = make_tensor(shape_of(batch, {n}), dtype, device), v;
  if (vectors) v = empty_columns(batch, n, n, w);
  if (A.numel() > 0) {
    TAEDA_CHECK(A.is_meta() || A.detach().isfinite().all().item<bool>(),
                "torch.linalg.eig: input tensor should not contain infs or NaNs.");
    const Tensor info = make_tensor(batch, kInt, device);
    eig_slot(device.type(), as_batch(copy_columns(A.detach().to(device)), 2), as_batch(w, 1),
             vectors ? as_batch(v, 2) : v, as_batch(info, 0));
    check_info("linalg.eig", info, eigenvalues_failed);
  }
  return {w.to(A.device()), vectors ? v.to(A.device()) : v};
}

/// X with M X = B of complex matrices, by real ones of twice the size.
Tensor complex_solve(const Tensor& M, const Tensor& B) {
  const Tensor re = real(M), im = imag(M);
  const Tensor rows[] = {cat({re, im.neg()}, -1), cat({im, re}, -1)};
  const Tensor halves[] = {real(B), imag(B)};
  const Tensor x = solve(cat(TensorList(rows, 2), -2), cat(TensorList(halves, 2), -2));
  const int64_t n = M.size(-1);
  return make_complex(x.narrow(-2, 0, n), x.narrow(-2, n, n));
}

/// V^H gV less what changes the vectors' lengths, over the differences of eigenvalues.
Tensor through_vectors(const Tensor& gv, const Tensor& w, const Tensor& v) {
  const Tensor inner = v.mH().matmul(gv), diagonal = taeda::diagonal(inner, 0, -2, -1);
  const Tensor phase = imag(diagonal.detach());
  TAEDA_CHECK(phase.is_meta() || phase.abs().max().item<double>() <= 1e-2,
              "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
              "multiplication by e^{i phi}. The specified loss function depends on this quantity, "
              "so it is ill-defined.");
  const Tensor lengths = v.mul(real(diagonal).to(v.dtype()).unsqueeze(-2));
  const Tensor numerator = inner.sub(v.mH().matmul(lengths));
  const Tensor one = eye_like(w.size(-1), w.size(-1), w);
  const Tensor apart = w.unsqueeze(-2).sub(w.unsqueeze(-1)).conj().add(one);
  return numerator.div(apart).mul(one.neg().add(1));
}

Tensor eig_backward(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v,
                    bool real_input) {
  if (w.numel() == 0) return taeda::zeros_like(real_input ? real(v) : v);
  Tensor inside;
  if (gv.defined()) inside = through_vectors(gv, w, v);
  if (gw.defined()) inside = inside.defined() ? inside.add(diag_embed(gw)) : diag_embed(gw);
  const Tensor out = complex_solve(v.mH(), inside.matmul(v.mH()));
  return real_input ? real(out) : out;
}

}  // namespace

std::tuple<Tensor, Tensor> do_eig(const Tensor& A) {
  auto [w, v] = eig_values(A, true);
  if (wants_grad(A))
    record_multi("LinalgEigBackward0", {w, v}, {A},
                 [w = save_output(w, 0), v = save_output(v, 1), real_input = !A.is_complex()](
                     const TensorVec& g, Needs) {
                   return TensorVec{eig_backward(g[0], g[1], w.unpack(), v.unpack(), real_input)};
                 });
  return {w, v};
}

Tensor do_eigvals(const Tensor& A) {
  if (wants_grad(A)) return std::get<0>(eig(A));
  return std::get<0>(eig_values(A, false));
}

}  // namespace taeda::inline v0_2::linalg

namespace taeda::inline v0_2 {

std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors, bool upper) {
  const char* const triangle = upper ? "U" : "L";
  if (eigenvectors) return linalg::eigh(self, triangle);
  return {linalg::eigvalsh(self, triangle), self.new_empty({0})};
}

std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  if (!compute_uv) {
    const Tensor s = linalg::svdvals(self);
    const auto square = [&](int64_t n) {
      return self.new_zeros(detail::shape_of(detail::batch_of(self), {n, n}));
    };
    return {square(self.size(-2)), s, square(self.size(-1))};
  }
  const auto [u, s, vh] = linalg::svd(self, !some);
  return {u, s, vh.mH()};
}

}  // namespace taeda::inline v0_2
