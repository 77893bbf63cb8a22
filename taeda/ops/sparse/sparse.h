// Sparse tensors in coordinate form (COO): the indices of the elements that are not zero, and their
// values; and matrices in compressed rows (CSR). Their parts are methods of Tensor (`indices`,
// `crow_indices`, `values`, `coalesce`, ...); operations that know them take them by their usual
// names (docs/sparse.md lists them), all others throw NotImplementedError. Derivatives of sparse
// tensors are sparse, with the same indices.
// [operations]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A tensor with values[i] at indices[:, i]: `indices` [sparse_dim, nnz] are integers, `values`
/// [nnz, ...] are dense in the dimensions that follow. Equal indices add up. Without `size` it is
/// as small as the indices allow. `is_coalesced` says that each index is there once, in order.
/// Differentiable in `values`. Throws Error, in PyTorch's words, for shapes that do not fit and
/// indices outside of the sizes, for which it waits for the device.
Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values,
                         const TensorOptions& options = {}, std::optional<bool> is_coalesced = {});
Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, IntArrayRef size,
                         const TensorOptions& options = {}, std::optional<bool> is_coalesced = {});
/// The same with a size in braces: `{3}` could be a device's index, too.
inline Tensor sparse_coo_tensor(const Tensor& indices, const Tensor& values,
                                std::initializer_list<int64_t> size,
                                const TensorOptions& options = {}) {
  return sparse_coo_tensor(indices, values, IntArrayRef(size), options);
}
/// A sparse tensor without elements, of `size`.
Tensor sparse_coo_tensor(IntArrayRef size, const TensorOptions& options = {});
/// The same without a look at the indices. What is outside of the sizes is an IndexError of the
/// operation that meets it.
/// [composite]
Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, IntArrayRef size,
                                 const TensorOptions& options = {},
                                 std::optional<bool> is_coalesced = {});

/// A matrix in compressed rows: row i has the elements values[k] in the columns col_indices[k] for
/// k from crow_indices[i] up to crow_indices[i + 1]. The indices are int32 or int64 [rows + 1] and
/// [nnz], `values` [nnz, ...] are dense in the dimensions behind the matrix's. Without `size` it is
/// as narrow as the columns allow. Differentiable in `values`. Throws Error, in PyTorch's words,
/// for shapes that do not fit, rows that do not follow each other and columns outside of the
/// matrix, for which it waits for the device; with `check_invariants` also where the columns of a
/// row do not ascend.
Tensor sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices,
                         const Tensor& values, IntArrayRef size, const TensorOptions& options = {},
                         bool check_invariants = false);
Tensor sparse_csr_tensor(const Tensor& crow_indices, const Tensor& col_indices,
                         const Tensor& values, const TensorOptions& options = {},
                         bool check_invariants = false);

/// The product of a sparse matrix and a dense one as a sparse matrix: all columns of the rows that
/// `self` has.
/// [method, composite]
Tensor smm(const Tensor& self, const Tensor& mat2);
/// beta * self + alpha * mat1 mat2 of sparse `self` and `mat1` and dense `mat2`; sparse, with the
/// elements of both.
/// [method, composite]
Tensor sspaddmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
                const Scalar& alpha = 1);
/// The product of a sparse matrix and a dense one as a sparse tensor of dense rows.
/// [composite]
Tensor hspmm(const Tensor& mat1, const Tensor& mat2);
/// Takes over the elements of `src`, a sparse tensor of any size, in place.
/// [composite]
Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool non_blocking = false);

namespace sparse {

/// The product of two matrices, at least one of them sparse: dense, or sparse if both are. The
/// gradient of a sparse matrix is that of its elements.
/// [composite]
Tensor mm(const Tensor& mat1, const Tensor& mat2);
/// beta * mat + alpha * mat1 mat2, of dense `mat` and `mat2` and sparse `mat1`.
/// [composite]
Tensor addmm(const Tensor& mat, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/// beta * self + alpha * mat1 mat2 at the elements that `self` has, a matrix in compressed rows, of
/// dense `mat1` and `mat2`; other elements of the product are not computed.
/// [composite]
Tensor sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                     const Scalar& beta = 1, const Scalar& alpha = 1);
/// The sum of all elements, dense; `dtype` converts first.
/// [composite]
Tensor sum(const Tensor& self, OptionalDtype dtype = {});
/// The sum along `dim`: sparse while a sparse dimension is left, else dense.
/// [composite]
Tensor sum(const Tensor& self, IntArrayRef dim, OptionalDtype dtype = {});
/// softmax along `dim` over the elements that are there: those that are not count for minus
/// infinity.
/// [composite]
Tensor softmax(const Tensor& self, int64_t dim, OptionalDtype dtype = {});
/// Its logarithm.
/// [composite]
Tensor log_softmax(const Tensor& self, int64_t dim, OptionalDtype dtype = {});

}  // namespace sparse

}  // namespace taeda::inline v0_2
