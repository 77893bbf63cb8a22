// Linear algebra of matrices and batches of matrices ([..., m, n]), real and complex, of single and
// double precision. Names, arguments and defaults are torch.linalg's. Results may have any strides.
//
// Errors: LinAlgError names the matrix that cannot be inverted or decomposed, which waits for the
// device; functions ending in _ex return LAPACK's `info` (int32, one for each matrix, 0 is success)
// and do not look at it unless `check_errors`. The CPU computes with LAPACK, CUDA with cuSOLVER and
// cuBLAS; they are looked for at the first call, and NotImplementedError says if they are missing.
//
// Derivatives: M. Giles, "Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation" (2008), and what is cited at the functions.
// [operations, out, dtypes: floating complex]
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A matrix without the property that an operation needs: singular, not positive-definite, not
/// convergent.
class LinAlgError : public Error {
  using Error::Error;
};

namespace linalg {

/// L with a positive diagonal and A = L L^H; the upper factor L^H if `upper`. Reads that triangle
/// of A alone. Throws LinAlgError unless A is positive-definite.
Tensor cholesky(const Tensor& A, bool upper = false);
/// (L, info): `cholesky` without its error.
/// [returns: L info, autocast: float32 host]
std::tuple<Tensor, Tensor> cholesky_ex(const Tensor& A, bool upper = false,
                                       bool check_errors = false);

/// X with A X = B, or X A = B unless `left`. B is [..., n, k], or vectors [..., n] if it has one
/// dimension or A's sizes without the last. Batch dimensions broadcast. Throws LinAlgError if A is
/// singular.
/// [autocast: float32 host]
Tensor solve(const Tensor& A, const Tensor& B, bool left = true);
/// (X, info): `solve` without its error.
/// [returns: result info]
std::tuple<Tensor, Tensor> solve_ex(const Tensor& A, const Tensor& B, bool left = true,
                                    bool check_errors = false);
/// X with A X = B (X A = B unless `left`), where A is triangular: the other triangle is not read,
/// and neither is the diagonal if `unitriangular`, which means ones. A zero on the diagonal gives
/// infinities.
Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left = true,
                        bool unitriangular = false);

/// The inverses of matrices [*, n, n]. Throws LinAlgError if A is singular.
Tensor inv(const Tensor& A);
/// (inverse, info): `inv` without its error.
/// [returns: inverse info, autocast: float32 host]
std::tuple<Tensor, Tensor> inv_ex(const Tensor& A, bool check_errors = false);
/// The determinants of matrices [*, n, n], [*].
/// [method, not returns]
Tensor det(const Tensor& A);
/// (sign, log |det|) of matrices [*, n, n], [*] each: 0 and -inf for a singular one.
/// [method, returns: sign logabsdet]
std::tuple<Tensor, Tensor> slogdet(const Tensor& A);

/// (LU, pivots) by Gaussian elimination with row exchanges: U on and above the diagonal, L below
/// it; row i was exchanged with row pivots[i] - 1 (int32). Throws Error if U has a zero on its
/// diagonal. Without `pivot` no rows are exchanged.
/// [returns: LU pivots]
std::tuple<Tensor, Tensor> lu_factor(const Tensor& A, bool pivot = true);
/// (LU, pivots, info): `lu_factor` without its error.
/// [returns: LU pivots info, autocast: float32 host]
std::tuple<Tensor, Tensor, Tensor> lu_factor_ex(const Tensor& A, bool pivot = true,
                                                bool check_errors = false);
/// (P, L, U) with A = P L U; P is empty unless `pivot`.
/// [returns: P L U]
std::tuple<Tensor, Tensor, Tensor> lu(const Tensor& A, bool pivot = true);
/// X with A X = B (X A = B unless `left`; with A^H in place of A if `adjoint`), where (LU, pivots)
/// is what lu_factor made of A.
/// [autocast: float32 host]
Tensor lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left = true,
                bool adjoint = false);

/// (Q, R), A = Q R with orthonormal columns in Q. `mode`: "reduced" (Q is [m, k], R [k, n], k =
/// min(m, n)), "complete" (Q is [m, m]) or "r" (no Q). Not differentiable for "r", and for
/// "complete" only if m <= n; the derivative assumes that A's first k columns are independent.
/// [returns: Q R, autocast: float32 host]
std::tuple<Tensor, Tensor> qr(const Tensor& A, std::string_view mode = "reduced");

/// (eigenvalues in ascending order, eigenvectors as columns) of a Hermitian matrix, of which only
/// the lower (`UPLO` "L") or upper ("U") triangle is read. The derivative of eigenvectors exists if
/// eigenvalues differ, and is meaningful for losses that do not depend on the vectors' signs, which
/// of complex vectors are phases: Error says if they do.
/// [returns: eigenvalues eigenvectors, autocast: float32 host]
std::tuple<Tensor, Tensor> eigh(const Tensor& A, std::string_view UPLO = "L");
/// The eigenvalues in ascending order of Hermitian matrices [*, n, n], [*, n], as `eigh` reads
/// them.
/// [not returns, autocast: float32 host]
Tensor eigvalsh(const Tensor& A, std::string_view UPLO = "L");

/// (U, S, Vh) with A = U diag(S) Vh, S in descending order. U is [m, m] and Vh [n, n] if
/// `full_matrices`, else [m, k] and [k, n], k = min(m, n). The derivative (J. Townsend,
/// "Differentiating the Singular Value Decomposition", 2016) exists for the first k vectors if the
/// singular values differ and, for U or Vh that are not square, are not zero; it is meaningful for
/// losses that do not depend on the vectors' signs or phases.
/// `driver` names one of cuSOLVER's methods; it is accepted, and devices choose their own.
/// [returns: U S Vh, autocast: float32 host]
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices = true,
                                       std::optional<std::string_view> driver = {});
/// The singular values in descending order of matrices [*, m, n], [*, min(m, n)].
/// [not returns, autocast: float32 host]
Tensor svdvals(const Tensor& A, std::optional<std::string_view> driver = {});

/// The Moore-Penrose inverse. Singular values (eigenvalues if `hermitian`) below max(atol, rtol *
/// the largest) count as zero; rtol is by default eps * max(m, n), or 0 if atol is given. The
/// derivative (G. Golub, V. Pereyra 1973) assumes that small changes of A keep its rank.
/// [autocast: float32 host]
Tensor pinv(const Tensor& A, std::optional<double> atol = {}, std::optional<double> rtol = {},
            bool hermitian = false);
/// The number of singular values (absolute eigenvalues if `hermitian`) above max(atol, rtol * the
/// largest), int64; defaults as those of `pinv`.
/// [autocast: float32 host, composite]
Tensor matrix_rank(const Tensor& A, std::optional<double> atol = {},
                   std::optional<double> rtol = {}, bool hermitian = false);
/// (solution, residuals, rank, singular values) of min |A X - B| for A [..., m, n] and B [..., m,
/// k] or [..., m]. Drivers: "gels" takes A of full rank (by QR), "gelsd", "gelss" and "gelsy" any
/// A (by SVD; the shortest of all solutions). Singular values below rcond * the largest count as
/// zero, by default eps * max(m, n). The default is "gelsy" on the CPU and "gels" elsewhere. As in
/// PyTorch, residuals (sums of squares) are empty unless m > n, all ranks are full and the driver
/// is not "gelsy"; "gels" gives no rank, and "gels" and "gelsy" no singular values.
/// [returns: solution residuals rank singular_values, autocast: float32 host, composite]
std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor& A, const Tensor& B,
                                                 std::optional<double> rcond = {},
                                                 std::optional<std::string_view> driver = {});

/// (sum |x|^ord)^(1/ord) over `dim`; over all dimensions if the list is empty.
/// [composite]
Tensor vector_norm(const Tensor& A, const Scalar& ord = 2, IntArrayRef dim = {},
                   bool keepdim = false, OptionalDtype dtype = {});
/// Norms of the matrices in two dimensions: "fro" (root of the sum of squares), "nuc" (sum of
/// singular values), 2 and -2 (largest and smallest singular value), 1 and -1 (largest and smallest
/// column sum of |A|), inf and -inf (row sum).
/// [composite]
Tensor matrix_norm(const Tensor& A, const Scalar& ord, IntArrayRef dim = {-2, -1},
                   bool keepdim = false, OptionalDtype dtype = {});
Tensor matrix_norm(const Tensor& A, std::string_view ord = "fro", IntArrayRef dim = {-2, -1},
                   bool keepdim = false, OptionalDtype dtype = {});
/// matrix_norm if `ord` is given and `dim` names two dimensions, or is empty and A has two; else
/// vector_norm, whose `ord` is by default 2.
/// [composite]
Tensor norm(const Tensor& A, const OptionalScalar& ord = {}, IntArrayRef dim = {},
            bool keepdim = false, OptionalDtype dtype = {});
Tensor norm(const Tensor& A, std::string_view ord, IntArrayRef dim = {}, bool keepdim = false,
            OptionalDtype dtype = {});
/// |A| |A^-1| in the norm `p`, by default 2; for 2 and -2, which take any matrix, the largest
/// singular value over the smallest, or the reverse. inf for singular matrices.
/// [composite]
Tensor cond(const Tensor& A, const OptionalScalar& p = {});
Tensor cond(const Tensor& A, std::string_view p);

/// A^n of square matrices; negative powers invert. Takes every dtype that `matmul` takes.
/// [method, not dtypes, composite]
Tensor matrix_power(const Tensor& A, int64_t n);
/// The sum of A^i / i!, by scaling, squaring and a rational approximation: N. Higham, "The scaling
/// and squaring method for the matrix exponential revisited" (2005).
/// [method, composite]
Tensor matrix_exp(const Tensor& A);
/// The product of all matrices in the order that takes the fewest multiplications. The first and
/// the last may be vectors.
/// [dtypes: floating complex integral, composite]
Tensor multi_dot(TensorList tensors);
/// The cross product of vectors of length 3 along `dim`; other dimensions broadcast.
/// [dtypes: floating complex integral, composite]
Tensor cross(const Tensor& A, const Tensor& B, int64_t dim = -1);

// Of any square or symmetric matrix. Where a device has no kernel of its own the host computes.

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

// Names that torch has outside of torch.linalg.
using linalg::det, linalg::matrix_exp, linalg::matrix_power, linalg::slogdet;
/// linalg::inv and linalg::cholesky.
/// [method]
inline Tensor inverse(const Tensor& self) { return linalg::inv(self); }
inline Tensor cholesky(const Tensor& self, bool upper = false) {
  return linalg::cholesky(self, upper);
}
/// log(det) of matrices [*, n, n], [*]; NaN for a negative determinant.
/// [method, composite]
Tensor logdet(const Tensor& self);
/// X with A X = B, from A's Cholesky factor L [*, n, n] (upper if `upper`) and B [*, n, k].
/// [method, autocast: float32 host, composite]
Tensor cholesky_solve(const Tensor& B, const Tensor& L, bool upper = false);
/// The inverse of A, from its Cholesky factor L [*, n, n] (upper if `upper`).
/// [method, autocast: float32 host, composite]
Tensor cholesky_inverse(const Tensor& L, bool upper = false);
/// The Moore-Penrose inverse [*, n, m] of matrices [*, m, n]; singular values below rcond * the
/// largest count as zero.
/// [method]
inline Tensor pinverse(const Tensor& self, double rcond = 1e-15) {
  return linalg::pinv(self, {}, rcond);
}
/// (Q, R) with self = Q R: linalg::qr with "reduced" or, unless `some`, "complete".
/// [method, returns: Q R]
inline std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some = true) {
  return linalg::qr(self, some ? "reduced" : "complete");
}
/// linalg::eigh of one triangle; the vectors are empty unless `eigenvectors`.
/// [method, returns: eigenvalues eigenvectors, composite]
std::tuple<Tensor, Tensor> symeig(const Tensor& self, bool eigenvectors = false, bool upper = true);
/// (U, S, V) with self = U diag(S) V^T; U and V have min(m, n) columns, or all unless `some`.
/// Unless `compute_uv` they are square and zero.
/// [method, returns: U S V, composite]
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some = true,
                                       bool compute_uv = true);
/// The cross product of vectors along `dim`, by default the first dimension of size 3; throws Error
/// if there is none. Other dimensions broadcast.
/// [method, dtypes: floating complex integral, composite]
Tensor cross(const Tensor& self, const Tensor& other, OptionalDim dim = {});

}  // namespace taeda::inline v0_2
