// Linear algebra on tensors as matrices, Householder reflectors, and the older names of
// factorisations. Like ops/linalg/linalg.h, whose errors and batches hold here too.
// [operations, out, dtypes: floating]
#pragma once

#include "taeda/ops/spectral/fft.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

namespace linalg {

/// The first n columns of the product of the reflectors 1 - tau_i v_i v_i^T; column i of A [..., m,
/// n] holds v_i below its diagonal, where v_i has a 1 (LAPACK's orgqr). tau is [..., k], k <= n <=
/// m.
/// [autocast: float32 host, dtypes: floating complex, composite]
Tensor householder_product(const Tensor& A, const Tensor& tau);
/// The X with tensordot(A, X, X.dim()) = B; `dims` of A are moved to its end before. Throws Error
/// unless A, so taken as a matrix, is square.
/// [dtypes: floating complex, composite]
Tensor tensorsolve(const Tensor& A, const Tensor& B, OptionalIntArrayRef dims = {});
/// The inverse of A as a matrix whose rows are its first `ind` dimensions.
/// [dtypes: floating complex, composite]
Tensor tensorinv(const Tensor& A, int64_t ind = 2);
/// The sum of conj(x) y along `dim`; x and y broadcast. Throws NotImplementedError for integers.
/// [dtypes: floating complex, composite]
Tensor vecdot(const Tensor& x, const Tensor& y, int64_t dim = -1);
/// Matrices of the powers 1, x, ..., x^(N - 1) of vectors [..., n] as columns; N is by default n.
/// [not dtypes, composite]
Tensor vander(const Tensor& x, OptionalDim N = {});
/// taeda::diagonal of the last two dimensions.
/// [not out, view, dtypes: floating complex integral bool, composite]
Tensor diagonal(const Tensor& A, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
/// taeda::matmul.
/// [dtypes: floating complex integral, composite]
Tensor matmul(const Tensor& self, const Tensor& other);

}  // namespace linalg

/// The columns of a product of reflectors, [*, m, n]: linalg::householder_product.
/// [method, dtypes: floating complex]
inline Tensor orgqr(const Tensor& self, const Tensor& input2) {
  return linalg::householder_product(self, input2);
}
/// (R on and above the diagonal with reflectors below, tau): the QR decomposition as LAPACK's geqrf
/// leaves it. Not differentiable.
/// [method, returns: a tau, dtypes: floating complex, autocast: float32 host]
std::tuple<Tensor, Tensor> geqrf(const Tensor& self);
/// Q C, Q^T C (`transpose`), C Q or C Q^T (not `left`), C = `other` and Q the product of all m
/// reflectors in `self` and `tau`.
/// [method, autocast: float32 host, dtypes: floating complex, composite]
Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left = true,
             bool transpose = false);
/// (X, A) with A X = self, of which one triangle counts, or A^T X = self.
/// [method, returns: solution cloned_coefficient, dtypes: floating complex, autocast: float32 host,
/// composite]
std::tuple<Tensor, Tensor> triangular_solve(const Tensor& self, const Tensor& A, bool upper = true,
                                            bool transpose = false, bool unitriangular = false);
/// linalg::lu_solve with its arguments in another order.
/// [method, dtypes: floating complex, composite]
Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots);
/// (P, L, U) of what linalg::lu_factor made; empty where not asked for.
/// [returns: P L U, dtypes: floating complex, composite]
std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots,
                                             bool unpack_data = true, bool unpack_pivots = true);

}  // namespace taeda::inline v0_2
