// Slots of matrix decompositions, of real and complex numbers of single and double precision; on
// CUDA of real ones.
//
// Note [Column-major matrices]
// LAPACK and cuSOLVER read matrices by columns. Matrices of these slots are batches of [rows,
// columns] whose columns are contiguous and follow each other without gaps: strides (rows *
// columns, 1, rows). What a kernel decomposes it overwrites. `info` (int32, one for each matrix) is
// LAPACK's: 0 is success, i > 0 tells of row i, counted from 1, and what it tells depends on the
// slot.
#pragma once

#include "taeda/kernels/slot.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The lower triangle of a = L L^H becomes L; the upper one is undefined afterwards. info: the
/// order of the first leading minor that is not positive.
inline Slot<void(const Tensor& a, const Tensor& info)> cholesky_slot{"cholesky"};

/// a becomes U on and above the diagonal, L below it (whose diagonal is 1), where row i of L U is
/// row i of `a` after swapping row j with pivots[j] - 1 (int32) for j = 0, 1, .. Without `pivot`
/// nothing is swapped and `pivots` stays as it is. info: the first zero on U's diagonal.
inline Slot<void(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot)> lu_slot{
    "lu"};

/// perm (int64, [batch, rows]): where each row of L U comes from.
inline Slot<void(const Tensor& perm, const Tensor& pivots)> lu_permutation_slot{"lu_permutation"};

/// x, [batch, n, k], becomes the solution of a y = x, or of a^T y = x if `transpose`. Only one
/// triangle of `a` is read; with `unitriangular` its diagonal counts as ones.
inline Slot<void(const Tensor& a, const Tensor& x, bool upper, bool transpose, bool unitriangular)>
    triangular_solve_slot{"triangular_solve"};

/// a = Q R: the upper triangle of `a` becomes R. The first columns of Q go to `q` ([batch, rows, at
/// most rows]) if it is defined.
inline Slot<void(const Tensor& a, const Tensor& q)> qr_slot{"qr"};

/// Real eigenvalues of the Hermitian matrix in the lower triangle, in ascending order; with
/// `vectors` the columns of `a` become its eigenvectors. info: did not converge.
inline Slot<void(const Tensor& a, const Tensor& values, const Tensor& info, bool vectors)>
    eigh_slot{"eigh"};

/// a = u diag(s) vh, s real and in descending order; `a` has at least as many rows as columns. `u`
/// and `vh` may be undefined together; `u` has as many columns as `a` or as rows. info: did not
/// converge.
inline Slot<void(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh,
                 const Tensor& info)>
    svd_slot{"svd"};

/// Eigenvalues of any square matrix, and its eigenvectors of length 1 as columns if `vectors` is
/// defined; both complex, `a` real or complex. info: did not converge.
inline Slot<void(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info)>
    eig_slot{"linalg_eig"};

/// The lower triangle of a symmetric matrix (if `hermitian`, of one that is its adjoint) becomes L
/// and the blocks of D with a = L D L^T; `pivots` (int32) are LAPACK's. Real or complex. info: the
/// first block that is singular.
inline Slot<void(const Tensor& a, const Tensor& pivots, const Tensor& info, bool hermitian)>
    ldl_factor_slot{"linalg_ldl_factor"};

/// x, [batch, n, k], becomes the solution of a y = x, where `ld` and `pivots` are those of a.
inline Slot<void(const Tensor& ld, const Tensor& pivots, const Tensor& x, bool hermitian)>
    ldl_solve_slot{"linalg_ldl_solve"};

template <class F>
void for_each_linalg_slot(F&& f) {
  visit_slots<&cholesky_slot, &lu_slot, &lu_permutation_slot, &triangular_solve_slot, &qr_slot,
              &eigh_slot, &svd_slot, &eig_slot, &ldl_factor_slot, &ldl_solve_slot>(f);
}

}  // namespace taeda::inline v0_2
