// What operations do with sparse tensors: Note [Sparse tensors] in tensor/sparse.h. Each function
// is the way on of the operation that it is named after. Not part of the public interface.
#pragma once

#include <functional>

#include "taeda/autograd/record.h"
#include "taeda/tensor/sparse.h"

namespace taeda::inline v0_2::detail {

/// The positions of `indices` in a row-major tensor of `sizes`, which begin with the sparse ones.
Tensor sparse_keys(const Tensor& indices, IntArrayRef sizes);
/// A sparse tensor of parts that fit, differentiable in `values`.
Tensor with_values(const Tensor& indices, const Tensor& values, IntArrayRef sizes, bool coalesced);
/// The values of a coalesced tensor, or of one in compressed rows, differentiable.
Tensor values_of(const Tensor& coalesced);
/// The elements of `t`, dense or sparse, at `indices`, differentiable.
Tensor values_at(const Tensor& t, const Tensor& indices);
/// f of a sparse tensor's values. What is not `linear` sees coalesced ones. f(0) must be 0.
Tensor on_values(const Tensor& self, bool linear, const std::function<Tensor(const Tensor&)>& f);
/// `on_values` for a function that is not linear, after a look whether its f(0) is 0: throws
/// NotImplementedError, in the operation's name, if not.
Tensor on_values_if_zero(const Tensor& self, const std::function<Tensor(const Tensor&)>& f);
/// What stands in the place of `self`'s parts from now on; its sizes stay.
void replace_parts(const Tensor& self, const Tensor& by);
/// "Strided", "Sparse" or "SparseCsr", as messages say it.
const char* layout_name(const Tensor& t);

// The same for matrices in compressed rows (ops/sparse/sparse_csr.cpp).

Tensor with_csr_values(const Tensor& rows, const Tensor& columns, const Tensor& values,
                       IntArrayRef sizes, bool sorted);
Tensor csr_values_of(const Tensor& self);
/// The elements of `t`, of any layout, where a matrix of these parts has its own, differentiable.
Tensor values_at_rows(const Tensor& t, const CsrParts& at);
void replace_csr_parts(const Tensor& self, const Tensor& by);
Tensor csr_empty(IntArrayRef sizes, const TensorOptions& options);
Tensor csr_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking);
Tensor csr_mask(const Tensor& self, const Tensor& mask);
/// Throws Error where indices that somebody has written to would lead out of the matrix.
void check_csr(const Tensor& self);
/// The indices [2, elements] of the elements.
Tensor csr_coordinates(const CsrParts& parts);
/// The transposed matrix, in compressed rows, too; differentiable.
Tensor csr_transposed(const Tensor& self);
/// The same elements in coordinates, differentiable.
Tensor csr_to_coo(const Tensor& self);
inline Tensor in_coordinates(const Tensor& t) { return t.is_sparse_csr() ? csr_to_coo(t) : t; }

/// The shape of the values that n elements of a tensor of `sizes` have.
DimVector value_sizes(IntArrayRef sizes, int64_t sparse_dim, int64_t n);

Tensor sparse_empty(IntArrayRef sizes, const TensorOptions& options);
Tensor sparse_to(const Tensor& self, Device device, ScalarType dtype, bool non_blocking);
Tensor sparse_clone(const Tensor& self);
Tensor& sparse_copy_(const Tensor& self, const Tensor& source);
Tensor& sparse_zero_(const Tensor& self);

Tensor sparse_add(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor& sparse_add_(const Tensor& self, const Tensor& other, const Scalar& alpha);
Tensor sparse_mul(const Tensor& self, const Tensor& other);
Tensor sparse_div(const Tensor& self, const Tensor& other,
                  std::optional<std::string_view> rounding_mode);
Tensor sparse_mm(const Tensor& self, const Tensor& mat2);
Tensor sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                    const Scalar& alpha);
Tensor sparse_sum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalDtype dtype);

Tensor sparse_permute(const Tensor& self, IntArrayRef dims);
Tensor sparse_transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor sparse_t(const Tensor& self);
Tensor sparse_unsqueeze(const Tensor& self, int64_t dim);
Tensor sparse_select(const Tensor& self, int64_t dim, int64_t index);
Tensor sparse_index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor sparse_cat(TensorList tensors, int64_t dim);

}  // namespace taeda::inline v0_2::detail
