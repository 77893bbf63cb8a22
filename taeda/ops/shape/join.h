// Putting tensors together and taking them apart.
// [operations, out]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The tensors one after the other along `dim`; dtypes are promoted. Empty one-dimensional tensors
/// are skipped. Throws Error where other sizes differ.
/// [also: concat concatenate]
Tensor cat(TensorList tensors, int64_t dim = 0);
/// The tensors, of one shape, along a new dimension `dim`. Throws Error for other shapes or none.
Tensor stack(TensorList tensors, int64_t dim = 0);
/// The tensors side by side (along dimension 1, of vectors 0), one above the other (as rows, along
/// 0) or behind each other (along 2), with the sizes that `cat` takes.
/// [composite]
Tensor hstack(TensorList tensors);
Tensor vstack(TensorList tensors);
Tensor dstack(TensorList tensors);

/// Views of `split_size` entries each along `dim`, the last one shorter; or of the sizes given,
/// which must sum to the dimension's size. The views of these functions may not be changed in place
/// while gradients are recorded.
/// [method, view]
std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
/// [method, view, also: split_with_sizes]
std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim = 0);
/// At most `chunks` views of equal size along `dim`, the last one shorter. Throws Error unless
/// `chunks` is positive.
/// [method, view]
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
/// One view for each entry along `dim`, without that dimension. Throws IndexError for a number.
/// [method, view]
std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
/// Exactly `sections` views whose sizes differ by at most one; or views between the indices given.
/// [method, view, composite]
std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim = 0);
std::vector<Tensor> tensor_split(const Tensor& self, IntArrayRef indices, int64_t dim = 0);
/// tensor_split with the number, or a vector of the indices, in a tensor of int64 on the CPU.
/// [method, view, composite]
std::vector<Tensor> tensor_split(const Tensor& self, const Tensor& indices_or_sections,
                                 int64_t dim = 0);

/// Coordinates of a grid, of vectors [n], [m], ... tensors [n, m, ...]: tensor i varies along
/// dimension i. `indexing` is "ij", or "xy" to swap
/// the first two dimensions.
/// [composite]
std::vector<Tensor> meshgrid(TensorList tensors, std::string_view indexing = "ij");

/// tensor_split along columns (the only dimension of vectors), rows and depth. Throws Error unless
/// `sections` divides the size.
/// [method, view, composite]
std::vector<Tensor> hsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices);
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices);
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices);

/// A square matrix with the flattened tensor on the diagonal `offset`, [n + |offset|, n +
/// |offset|].
/// [method, composite]
Tensor diagflat(const Tensor& self, int64_t offset = 0);
/// The matrices along the diagonal of a matrix of zeros, whose sizes are the sums of theirs;
/// vectors count as rows. Throws Error above two dimensions.
/// [composite]
Tensor block_diag(TensorList tensors);
/// All tuples of one element of each vector, as rows [product of lengths, number of vectors]; of
/// one vector, the vector.
/// [composite]
Tensor cartesian_prod(TensorList tensors);
/// All choices of r elements of a vector, as rows [count, r], in order. Throws Error for a negative
/// r and for other than vectors.
/// [composite]
Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);
/// The tensors side by side, vectors as columns [n, 1]; or one above the other, vectors as rows.
/// Other sizes must agree.
/// [composite]
Tensor column_stack(TensorList tensors);
Tensor row_stack(TensorList tensors);
/// The tensor with dimensions of size 1 added until it has one, two or three.
/// [view: maybe, not out, composite]
Tensor atleast_1d(const Tensor& self);
Tensor atleast_2d(const Tensor& self);
Tensor atleast_3d(const Tensor& self);
/// Each of several tensors with dimensions of size 1 added until it has one, two or three.
/// [view: maybe, not out, composite]
std::vector<Tensor> atleast_1d(TensorList tensors);
std::vector<Tensor> atleast_2d(TensorList tensors);
std::vector<Tensor> atleast_3d(TensorList tensors);
/// Channels (dimension 1 of [N, C, *]) in `groups` dealt out in turn (Zhang et al.,
/// arXiv:1707.01083). Throws Error unless `groups` divides C.
/// [composite]
Tensor channel_shuffle(const Tensor& self, int64_t groups);

}  // namespace taeda
