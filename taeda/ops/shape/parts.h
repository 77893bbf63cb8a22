// Tensors with parts of them replaced, taken apart and put together.
// [operations, method, out]
#pragma once

#include <string_view>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A copy of `self` in which self.select, self.slice or self.diagonal is `src`. Throws Error unless
/// src has that part's sizes.
/// [composite]
Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index);
Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim = 0, OptionalDim start = {},
                     OptionalDim end = {}, int64_t step = 1);
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset = 0, int64_t dim1 = 0,
                        int64_t dim2 = 1);
/// A copy whose elements under `mask` (bool, broadcast) are the first elements of `source`. Throws
/// Error if those are too few; waits for the device.
/// [in-place, composite]
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source);
/// scatter that combines what meets at one place by `reduce`: "sum", "prod", "mean", "amax" or
/// "amin"; self's own elements take part if `include_self`. Equal extremes share the gradient.
/// [in-place, composition]
Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self = true);
/// A copy whose elements at `index` (int64) of the flattened tensor are those of `source`, which
/// has as many, or have them added (`accumulate`). Throws IndexError for places outside.
/// [in-place, dtypes: integral, composite]
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate = false);
/// Whether each element (each other one, if `invert`) is among `test_elements`: bool, in
/// the shape of `elements`.
/// [not method, dtypes: floating integral, composition]
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);
/// [not method, dtypes: floating integral, composite]
Tensor isin(const Tensor& elements, const Scalar& test_element, bool assume_unique = false,
            bool invert = false);
Tensor isin(const Scalar& element, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);

/// tensor_split along columns (the only dimension of vectors), rows and depth. Throws Error unless
/// `sections` divides the size.
/// [view, composite]
std::vector<Tensor> hsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> hsplit(const Tensor& self, IntArrayRef indices);
std::vector<Tensor> vsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> vsplit(const Tensor& self, IntArrayRef indices);
std::vector<Tensor> dsplit(const Tensor& self, int64_t sections);
std::vector<Tensor> dsplit(const Tensor& self, IntArrayRef indices);

/// A square matrix with the flattened tensor on the diagonal `offset`, [n + |offset|, n +
/// |offset|].
/// [composite]
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
/// [not method, composite]
Tensor combinations(const Tensor& self, int64_t r = 2, bool with_replacement = false);
/// The tensors side by side, vectors as columns [n, 1]; or one above the other, vectors as rows.
/// Other sizes must agree.
/// [composite]
Tensor column_stack(TensorList tensors);
Tensor row_stack(TensorList tensors);
/// The tensor with dimensions of size 1 added until it has one, two or three.
/// [not method, view: maybe, not out, composite]
Tensor atleast_1d(const Tensor& self);
Tensor atleast_2d(const Tensor& self);
Tensor atleast_3d(const Tensor& self);
/// Each of several tensors with dimensions of size 1 added until it has one, two or three.
/// [not method, view: maybe, not out, composite]
std::vector<Tensor> atleast_1d(TensorList tensors);
std::vector<Tensor> atleast_2d(TensorList tensors);
std::vector<Tensor> atleast_3d(TensorList tensors);
/// Channels (dimension 1 of [N, C, *]) in `groups` dealt out in turn (Zhang et al.,
/// arXiv:1707.01083). Throws Error unless `groups` divides C.
/// [not method, composite]
Tensor channel_shuffle(const Tensor& self, int64_t groups);

}  // namespace taeda::inline v0_2
