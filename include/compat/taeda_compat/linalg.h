// Linear algebra under libtorch's names: torch::linalg_qr, torch::linalg::linalg_norm.
#pragma once

#include <taeda/ops/linalg/linalg_tolerances.h>
#include <taeda/ops/out_forms.h>
#include <taeda/ops/write_out.h>
#include <taeda_compat/forward.h>
#include <taeda_compat/namespaces.h>

#include <string>
#include <tuple>

// What libtorch has in torch::linalg beside Taeda's names: results behind all arguments.
namespace taeda::linalg {
TAEDA_COMPAT_FORWARD(linalg_det, taeda::linalg::det);
TAEDA_COMPAT_FORWARD(linalg_norm, taeda::linalg::norm);
TAEDA_COMPAT_FORWARD(linalg_norm_out, taeda::linalg::norm_out);
inline Tensor& matrix_norm_out(const Tensor& A, const Scalar& ord, IntArrayRef dim, bool keepdim,
                               OptionalDtype dtype, Tensor& result) {
  return matrix_norm_outf(A, ord, dim, keepdim, dtype, result);
}
inline Tensor& matrix_norm_out(const Tensor& A, const std::string& ord, IntArrayRef dim,
                               bool keepdim, OptionalDtype dtype, Tensor& result) {
  return matrix_norm_outf(A, ord, dim, keepdim, dtype, result);
}
inline Tensor& matrix_power_out(const Tensor& A, int64_t n, Tensor& result) {
  return matrix_power_outf(A, n, result);
}
inline Tensor& multi_dot_out(TensorList tensors, Tensor& result) {
  return multi_dot_outf(tensors, result);
}
/// `matrix_rank` and `pinv` with tensors as tolerances, written to `result`.
template <class... Args>
requires(taeda::linalg::detail::Tolerance<
         std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Args...>>>>)
    Tensor& matrix_rank_out(Tensor& result, const Tensor& A, Args&&... args) {
  taeda::detail::write_out(result, matrix_rank(A, std::forward<Args>(args)...));
  return result;
}
template <class... Args>
requires(taeda::linalg::detail::Tolerance<
         std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Args...>>>>)
    Tensor& pinv_out(Tensor& result, const Tensor& A, Args&&... args) {
  taeda::detail::write_out(result, pinv(A, std::forward<Args>(args)...));
  return result;
}
}  // namespace taeda::linalg

namespace taeda_compat {

#define TAEDA_COMPAT_LINALG(name) TAEDA_COMPAT_FORWARD(linalg_##name, taeda::linalg::name)
TAEDA_COMPAT_LINALG(cholesky);
TAEDA_COMPAT_LINALG(cholesky_ex);
TAEDA_COMPAT_LINALG(cholesky_ex_out);
TAEDA_COMPAT_LINALG(cholesky_out);
TAEDA_COMPAT_LINALG(cond);
TAEDA_COMPAT_LINALG(cond_out);
TAEDA_COMPAT_LINALG(cross);
TAEDA_COMPAT_LINALG(cross_out);
TAEDA_COMPAT_LINALG(det);
TAEDA_COMPAT_LINALG(det_out);
TAEDA_COMPAT_LINALG(eig);
TAEDA_COMPAT_LINALG(eig_out);
TAEDA_COMPAT_LINALG(eigh);
TAEDA_COMPAT_LINALG(eigh_out);
TAEDA_COMPAT_LINALG(eigvals);
TAEDA_COMPAT_LINALG(eigvals_out);
TAEDA_COMPAT_LINALG(eigvalsh);
TAEDA_COMPAT_LINALG(eigvalsh_out);
TAEDA_COMPAT_LINALG(inv);
TAEDA_COMPAT_LINALG(inv_ex);
TAEDA_COMPAT_LINALG(inv_ex_out);
TAEDA_COMPAT_LINALG(inv_out);
TAEDA_COMPAT_LINALG(ldl_factor);
TAEDA_COMPAT_LINALG(ldl_factor_ex);
TAEDA_COMPAT_LINALG(ldl_factor_ex_out);
TAEDA_COMPAT_LINALG(ldl_factor_out);
TAEDA_COMPAT_LINALG(ldl_solve);
TAEDA_COMPAT_LINALG(ldl_solve_out);
TAEDA_COMPAT_LINALG(lstsq);
TAEDA_COMPAT_LINALG(lstsq_out);
TAEDA_COMPAT_LINALG(lu);
TAEDA_COMPAT_LINALG(lu_factor);
TAEDA_COMPAT_LINALG(lu_factor_ex);
TAEDA_COMPAT_LINALG(lu_factor_ex_out);
TAEDA_COMPAT_LINALG(lu_factor_out);
TAEDA_COMPAT_LINALG(lu_out);
TAEDA_COMPAT_LINALG(lu_solve);
TAEDA_COMPAT_LINALG(lu_solve_out);
TAEDA_COMPAT_LINALG(matrix_exp);
TAEDA_COMPAT_LINALG(matrix_exp_out);
TAEDA_COMPAT_LINALG(matrix_norm);
TAEDA_COMPAT_LINALG(matrix_norm_out);
TAEDA_COMPAT_LINALG(matrix_power);
TAEDA_COMPAT_LINALG(matrix_power_out);
TAEDA_COMPAT_LINALG(matrix_rank);
TAEDA_COMPAT_LINALG(matrix_rank_out);
TAEDA_COMPAT_LINALG(multi_dot);
TAEDA_COMPAT_LINALG(multi_dot_out);
TAEDA_COMPAT_LINALG(norm);
TAEDA_COMPAT_LINALG(norm_out);
TAEDA_COMPAT_LINALG(pinv);
TAEDA_COMPAT_LINALG(pinv_out);
TAEDA_COMPAT_LINALG(qr);
TAEDA_COMPAT_LINALG(qr_out);
TAEDA_COMPAT_LINALG(slogdet);
TAEDA_COMPAT_LINALG(slogdet_out);
TAEDA_COMPAT_LINALG(solve);
TAEDA_COMPAT_LINALG(solve_ex);
TAEDA_COMPAT_LINALG(solve_ex_out);
TAEDA_COMPAT_LINALG(solve_out);
TAEDA_COMPAT_LINALG(solve_triangular);
TAEDA_COMPAT_LINALG(solve_triangular_out);
TAEDA_COMPAT_LINALG(svd);
TAEDA_COMPAT_LINALG(svd_out);
TAEDA_COMPAT_LINALG(svdvals);
TAEDA_COMPAT_LINALG(svdvals_out);
TAEDA_COMPAT_LINALG(vector_norm);
TAEDA_COMPAT_LINALG(vector_norm_out);
TAEDA_COMPAT_LINALG(diagonal);
TAEDA_COMPAT_LINALG(householder_product);
TAEDA_COMPAT_LINALG(householder_product_out);
TAEDA_COMPAT_LINALG(matmul);
TAEDA_COMPAT_LINALG(matmul_out);
TAEDA_COMPAT_LINALG(tensorinv);
TAEDA_COMPAT_LINALG(tensorinv_out);
TAEDA_COMPAT_LINALG(tensorsolve);
TAEDA_COMPAT_LINALG(tensorsolve_out);
TAEDA_COMPAT_LINALG(vander);
TAEDA_COMPAT_LINALG(vecdot);
TAEDA_COMPAT_LINALG(vecdot_out);
#undef TAEDA_COMPAT_LINALG

}  // namespace taeda_compat
