// Decompositions of matrices that need not be symmetric or definite: eigenvalues of any square
// matrix, and L D L^T of symmetric ones. Like linalg.h, whose errors and batches hold here too;
// complex matrices are taken. Where a device has no kernel of its own the host computes.
// [operations, out, dtypes: floating complex]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

namespace linalg {

/// (eigenvalues, eigenvectors as columns of length 1) of a square matrix, both complex, in no
/// order. The derivative of eigenvectors exists if eigenvalues differ; a loss that depends on the
/// vectors' phases, which are arbitrary, throws Error in backward. C. Boeddeker et al., "On the
/// computation of complex-valued gradients with application to statistically optimum beamforming"
/// (arXiv:1701.00392).
/// [returns: eigenvalues eigenvectors, autocast: float32 host]
std::tuple<Tensor, Tensor> eig(const Tensor& A);
/// The eigenvalues of square matrices [*, n, n], complex [*, n], in no order.
/// [not returns, autocast: float32 host]
Tensor eigvals(const Tensor& A);

/// (LD, pivots) of a symmetric matrix, or, if `hermitian`, one that is its adjoint: as LAPACK's
/// sytrf leaves its lower triangle, D in blocks of one or two rows on the diagonal, L below; pivots
/// are int32. Not differentiable. Throws LinAlgError for a block of D that is singular.
/// [returns: LD pivots]
std::tuple<Tensor, Tensor> ldl_factor(const Tensor& self, bool hermitian = false);
/// (LD, pivots, info): `ldl_factor` without its error.
/// [returns: LD pivots info]
std::tuple<Tensor, Tensor, Tensor> ldl_factor_ex(const Tensor& self, bool hermitian = false,
                                                 bool check_errors = false);
/// X with A X = B, where (LD, pivots) is what ldl_factor made of A. Batch dimensions broadcast.
/// [not returns]
Tensor ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian = false);

}  // namespace linalg

/// linalg::eigh of one triangle; the vectors are empty unless `eigenvectors`.
/// [method, returns: eigenvalues eigenvectors, composite]
std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors = false, bool upper = true);

}  // namespace taeda::inline v0_2
