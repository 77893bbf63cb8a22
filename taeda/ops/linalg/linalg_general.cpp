#include "taeda/ops/linalg/linalg_general.h"

#include "bodies/linalg_general.h"
#include "taeda/device/host_graph.h"
#include "taeda/kernels/linalg.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/linalg/linalg_common.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/parts.h"
#include "taeda/ops/shape/rearrange.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::linalg {

using namespace taeda::detail;

namespace {

/// The device that computes: the tensor's own, or the host.
template <class S>
Device device_with(const S& slot, const Tensor& t) {
  return slot.get(t.device().type()) ? t.device() : Device(kCPU);
}

// ---- eigenvalues ----

std::string eig_failed(int64_t info) {
  return concat(
      "The algorithm failed to converge because the input matrix is ill-conditioned or has too "
      "many repeated eigenvalues (error code: ",
      info, ").");
}

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
    check_info("linalg.eig", info, eig_failed);
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

}  // namespace

namespace {

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

namespace taeda::inline v0_2 {

std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors, bool upper) {
  const char* const triangle = upper ? "U" : "L";
  if (eigenvectors) return linalg::eigh(self, triangle);
  return {linalg::eigvalsh(self, triangle), self.new_empty({0})};
}

}  // namespace taeda::inline v0_2
