// Pseudo-inverses and ranks with tensors as tolerances. Not part of taeda.h.
#pragma once

#include <concepts>
#include <optional>

#include "taeda/ops/linalg/linalg.h"

namespace taeda::inline v0_2::linalg {

namespace detail {
/// linalg::pinv and linalg::matrix_rank with tolerances for each matrix; an undefined one is not
/// given.
Tensor pinv_within(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian);
Tensor rank_within(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian);
template <class T>
concept Tolerance = std::same_as<T, Tensor> || std::same_as<T, std::optional<Tensor>>;
template <class T>
concept GivenOrNot = Tolerance<T> || std::same_as<T, std::nullopt_t>;
}  // namespace detail

/// `pinv` and `matrix_rank` with tensors, one number for each matrix, as tolerances, of which one
/// may be absent.
template <detail::GivenOrNot A, detail::GivenOrNot R>
requires(detail::Tolerance<A> || detail::Tolerance<R>) Tensor
    pinv(const Tensor& matrices, const A& atol, const R& rtol, bool hermitian = false) {
  return detail::pinv_within(matrices, atol, rtol, hermitian);
}
template <detail::GivenOrNot A, detail::GivenOrNot R>
requires(detail::Tolerance<A> || detail::Tolerance<R>) Tensor
    matrix_rank(const Tensor& matrices, const A& atol, const R& rtol, bool hermitian = false) {
  return detail::rank_within(matrices, atol, rtol, hermitian);
}
/// With the relative tolerance of `pinv` alone, and the absolute one of `matrix_rank`.
Tensor pinv(const Tensor& A, const detail::Tolerance auto& rcond, bool hermitian = false) {
  return detail::pinv_within(A, {}, rcond, hermitian);
}
Tensor matrix_rank(const Tensor& A, const detail::Tolerance auto& tol, bool hermitian = false) {
  return detail::rank_within(A, tol, A.new_zeros({}), hermitian);
}

}  // namespace taeda::inline v0_2::linalg
