// Shared by the sources of linear algebra; not part of the public interface.
#pragma once

#include "taeda/autograd/record.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// Throws Error: "linalg.inv: The input tensor A must have at least 2 dimensions."
void check_matrix(const char* op, const Tensor& t, const char* name = "A");
/// Throws Error: "linalg.inv: A must be batches of square matrices, but they are 3 by 2 matrices".
void check_square(const char* op, const Tensor& t);
/// Float, double and the complex numbers of them pass; throws Error for others.
void check_solver_dtype(const char* op, const Tensor& t);
/// All of it.
void check_square_input(const char* op, const Tensor& t);

/// The sizes before the last two.
IntArrayRef batch_of(const Tensor& t);
/// `batch` followed by `last`.
DimVector shape_of(IntArrayRef batch, std::initializer_list<int64_t> last);

// Matrices as the slots take them: Note [Column-major matrices] in kernels/linalg.h. None of these
// has a history.
Tensor empty_columns(IntArrayRef batch, int64_t rows, int64_t columns, const Tensor& like);
/// A copy.
Tensor copy_columns(const Tensor& t);
/// The tensor itself where its memory is such, else a copy.
Tensor as_columns(const Tensor& t);
/// All dimensions but the last `keep` as one. The memory must be without gaps.
Tensor as_batch(const Tensor& t, int64_t keep);

/// The Hermitian matrix with the lower triangle of `t`, and of its diagonal the real parts.
Tensor hermitian_of_lower(const Tensor& t);

/// Ones on the diagonal, of the dtype and device of `like`.
Tensor eye_like(int64_t rows, int64_t columns, const Tensor& like);

/// Waits for `info` and throws LinAlgError for the first matrix whose info is not 0: `op`, the
/// matrix if there are several, and `text(info)`.
using InfoText = std::string (*)(int64_t info);
void check_info(const char* op, const Tensor& info, InfoText text);

/// What LU decomposition leaves; no history.
struct Factors {
  Tensor lu, pivots, info;
};
Factors lu_decompose(const Tensor& A, bool pivot = true);
/// Where rows of L U come from, [batch.., rows], int64.
Tensor lu_permutation(const Tensor& pivots, int64_t rows);
/// (P, L, U) of a decomposition of [rows, columns] matrices; differentiable in `lu`.
struct Unpacked {
  Tensor p, l, u;
};
Unpacked lu_unpack(const Tensor& lu, const Tensor& pivots);

/// Solves in place, without a history. `x` is column-major, `a` has its batch dimensions.
void solve_triangular_in_place(const Tensor& a, const Tensor& x, bool upper, bool transpose,
                               bool unitriangular);

/// The device that computes: the tensor's own, or the host.
template <class S>
Device device_with(const S& slot, const Tensor& t) {
  return slot.get(t.device().type()) ? t.device() : Device(kCPU);
}

}  // namespace taeda::inline v0_2::detail
