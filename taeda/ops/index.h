// Reading and writing parts of tensors by index. Methods: index, operator[], index_put_, gather,
// scatter, masked_fill and their in-place forms. An index outside its dimension is an IndexError;
// on accelerators it is reported when the host next waits for the device.
// [operations, method, out]
#pragma once

#include "taeda/tensor/indexing.h"

namespace taeda {

/// What numpy's `self[indices]` gives: a view for numbers, slices, None and "..."; a copy as soon
/// as a tensor is among the indices. Masks stand for the coordinates of their true elements.
/// [method: own]
inline Tensor index(const Tensor& self, ArrayRef<TensorIndex> indices) {
  return self.index(indices);
}
/// A copy of `self` with the elements that `indices` select replaced by `values`, or with `values`
/// added to them; equal indices then add up, else the last one wins.
/// [in-place: own, autocast: promote accelerators]
Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                 bool accumulate = false);

/// Rows index[0], index[1], ... along `dim`. Throws IndexError ("index out of range in self").
/// [method: own]
inline Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  return self.index_select(dim, index);
}
/// self with alpha * source[i] added to row index[i] along `dim`.
/// [method: own, in-place: own]
inline Tensor index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                        const Scalar& alpha = 1) {
  return self.index_add(dim, index, source, alpha);
}
/// self with source[i] in place of row index[i].
/// [in-place: own, autocast: promote]
Tensor index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source);
/// self with `value` in all rows named by `index`.
/// [in-place: own]
Tensor index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value);

/// out[i][j] = self[index[i][j]][j] for dim 0, and so on; the result has index's shape.
/// [method: own]
inline Tensor gather(const Tensor& self, int64_t dim, const Tensor& index) {
  return self.gather(dim, index);
}
/// self with self[index[i][j]][j] = src[i][j] for dim 0, and so on; of equal targets the last wins.
/// [method: own, in-place: own]
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.scatter(dim, index, src);
}
inline Tensor scatter(const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
  return self.scatter(dim, index, value);
}
/// The same, adding to what is there.
/// [method: own, in-place: own, autocast: promote accelerators]
inline Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return self.scatter_add(dim, index, src);
}

/// self with `value` wherever `mask` (bool, broadcast) is true.
/// [method: own, in-place: own]
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
  return self.masked_fill(mask, value);
}
inline Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
  return self.masked_fill(mask, value);
}
/// The elements where `mask` is true, as a vector. Waits for the device.
/// [method: own]
inline Tensor masked_select(const Tensor& self, const Tensor& mask) {
  return self.masked_select(mask);
}
/// The elements of the flattened tensor at `index`, in index's shape.
/// [method: own]
inline Tensor take(const Tensor& self, const Tensor& index) { return self.take(index); }
/// Values along `dim` at `indices`, which broadcast against self in the other dimensions.
Tensor take_along_dim(const Tensor& self, const Tensor& indices, OptionalDim dim = {});
/// Coordinates of the elements that are not zero, one row each. Waits for the device.
/// [method: own, also: argwhere]
inline Tensor nonzero(const Tensor& self) { return self.nonzero(); }
/// The columns of `nonzero(condition)`.
/// [not method]
std::vector<Tensor> where(const Tensor& condition);

}  // namespace taeda
