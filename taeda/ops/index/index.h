// Reading and writing parts of tensors by index. An index outside its dimension is an IndexError;
// on accelerators it is reported when the host next waits for the device.
// [operations, method, out]
#pragma once

#include <string_view>

#include "taeda/tensor/indexing.h"

namespace taeda::inline v0_2 {

/// What numpy's `self[indices]` gives: a view for numbers, slices, None and "..."; a copy as soon
/// as a tensor is among the indices. Masks stand for the coordinates of their true elements.
Tensor index(const Tensor& self, ArrayRef<TensorIndex> indices);
/// A copy of `self` with the elements that `indices` select replaced by `values`, or with `values`
/// added to them; equal indices then add up, else the last one wins.
/// [in-place: own, autocast: promote accelerators]
Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                 bool accumulate = false);

/// Rows index[0], index[1], ... along `dim`, whose size becomes the number of indices; `index` is a
/// vector of int32 or int64. Throws IndexError ("index out of range in self").
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
/// self with alpha * source[i] added to row index[i] along `dim`; source has self's sizes but for
/// `dim`, where it has as many rows as `index`.
/// [in-place: own]
Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                 const Scalar& alpha = 1);
/// self with source[i] in place of row index[i] along `dim`; source has self's sizes but for `dim`,
/// where it has as many rows as `index`.
/// [in-place: own, autocast: promote]
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
/// self with `value`, a number or a 0-dim tensor, in all rows along `dim` that `index` names.
/// [in-place: own]
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
/// [in-place]
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value);

/// out[i][j] = self[index[i][j]][j] for dim 0, and so on; the result has index's shape.
/// `sparse_grad` is accepted: the gradient is dense.
Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad = false);
/// self with self[index[i][j]][j] = src[i][j] for dim 0, and so on; of equal targets the last wins.
/// `index` (int64) is nowhere larger than `src` and, but for `dim`, than `self`; throws Error if
/// so.
/// [in-place: own]
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);
/// scatter, where `reduce` "add" or "multiply" says what becomes of two that meet. Throws Error for
/// other words.
/// [in-place]
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce);
Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value,
               std::string_view reduce);
/// scatter that adds to what is there: self[index[i][j]][j] += src[i][j] for dim 0, and so on, with
/// sizes as scatter takes them.
/// [in-place: own, autocast: promote accelerators]
Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src);

/// self with `value`, a number or a 0-dim tensor, wherever `mask` is true: bool, else Error, of a
/// shape that broadcasts to self's.
/// [in-place: own]
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value);
/// The elements where `mask` (bool, both broadcast) is true, as a vector. Waits for the device.
Tensor masked_select(const Tensor& self, const Tensor& mask);
/// The elements of the flattened tensor at `index`, in index's shape.
/// [dtypes: integral, composite]
Tensor take(const Tensor& self, const Tensor& index);
/// Values along `dim` at `indices` (int64), in their shape; they broadcast against self in the
/// other dimensions.
/// [dtypes: integral]
Tensor take_along_dim(const Tensor& self, const Tensor& indices, OptionalDim dim = {});
/// Coordinates (int64) of the elements that are not zero, one row each: [count, dimensions]. Waits
/// for the device.
/// [also: argwhere]
Tensor nonzero(const Tensor& self);
/// The columns of `nonzero`, one vector of indices for each dimension; a number counts as a vector
/// of one element.
/// [composite]
std::vector<Tensor> nonzero_numpy(const Tensor& self);
/// The columns of `nonzero(condition)`.
/// [not method]
std::vector<Tensor> where(const Tensor& condition);

}  // namespace taeda::inline v0_2
