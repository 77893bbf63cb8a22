// Linear algebra under libtorch's names: torch::linalg_qr, torch::linalg::linalg_norm.
#pragma once

#include <taeda/ops/linalg/linalg_tolerances.h>
#include <taeda/ops/out_forms.h>
#include <taeda/ops/write_out.h>
#include <taeda_compat/forward.h>
#include <taeda_compat/namespaces.h>

#include <string>
#include <string_view>
#include <tuple>

// What libtorch has in torch::linalg beside Taeda's names: results behind all arguments.
namespace taeda::linalg {
inline Tensor linalg_det(const Tensor& A) { return det(A); }
inline Tensor linalg_norm(const Tensor& A, const OptionalScalar& ord, IntArrayRef dim = {},
                          bool keepdim = false, OptionalDtype dtype = {}) {
  return norm(A, ord, dim, keepdim, dtype);
}
inline Tensor linalg_norm(const Tensor& A, std::string_view ord, IntArrayRef dim = {},
                          bool keepdim = false, OptionalDtype dtype = {}) {
  return norm(A, ord, dim, keepdim, dtype);
}
inline Tensor& linalg_norm_out(Tensor& result, const Tensor& A, const OptionalScalar& ord,
                               IntArrayRef dim = {}, bool keepdim = false,
                               OptionalDtype dtype = {}) {
  return norm_out(result, A, ord, dim, keepdim, dtype);
}
inline Tensor& linalg_norm_out(Tensor& result, const Tensor& A, std::string_view ord,
                               IntArrayRef dim = {}, bool keepdim = false,
                               OptionalDtype dtype = {}) {
  return norm_out(result, A, ord, dim, keepdim, dtype);
}
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
inline Tensor& multi_dot_out(Tensor& one, Tensor& result) { return multi_dot_outf(one, result); }
/// `matrix_rank` and `pinv` with tensors as tolerances, written to `result`.
template <class... Args>
requires(taeda::linalg::detail::Tolerance<
         std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Args...>>>>)
    Tensor& matrix_rank_out(Tensor& result, const Tensor& A, Args&&... args) {
  return taeda::detail::to_out(
      {"matrix_rank", taeda::detail::OutRule::Dtype::Castable, taeda::detail::OutRule::Memory::Any},
      result, [&] { return matrix_rank(A, std::forward<Args>(args)...); }, A);
}
template <class... Args>
requires(taeda::linalg::detail::Tolerance<
         std::remove_cvref_t<std::tuple_element_t<0, std::tuple<Args...>>>>)
    Tensor& pinv_out(Tensor& result, const Tensor& A, Args&&... args) {
  return taeda::detail::to_out(
      {"pinv", taeda::detail::OutRule::Dtype::Castable, taeda::detail::OutRule::Memory::Any},
      result, [&] { return pinv(A, std::forward<Args>(args)...); }, A);
}
}  // namespace taeda::linalg

namespace taeda_compat {

// With tensors as tolerances, beside what is made of the operations (second_names.h).
TAEDA_COMPAT_FORWARD(linalg_matrix_rank, taeda::linalg::matrix_rank);
TAEDA_COMPAT_FORWARD(linalg_matrix_rank_out, taeda::linalg::matrix_rank_out);
TAEDA_COMPAT_FORWARD(linalg_pinv, taeda::linalg::pinv);
TAEDA_COMPAT_FORWARD(linalg_pinv_out, taeda::linalg::pinv_out);

}  // namespace taeda_compat
