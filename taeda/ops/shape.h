// Views: the same memory seen with another shape. None of these functions copies, except `reshape`
// and `flatten` where no view can do. A change through a view changes the tensor it was taken from.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// The tensor with shape `sizes` (one -1 is inferred): a view where strides allow it, else a copy.
inline Tensor reshape(const Tensor& self, IntArrayRef sizes) { return self.reshape(sizes); }
/// Joins dimensions `start_dim` to `end_dim` (inclusive) into one.
inline Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1) {
  return self.flatten(start_dim, end_dim);
}
/// `flatten()`; PyTorch's name for it.
inline Tensor ravel(const Tensor& self) { return self.flatten(); }
/// Cuts dimension `dim` into dimensions of `sizes`, one of which may be -1.
inline Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  return self.unflatten(dim, sizes);
}
/// Swaps two dimensions.
inline Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1);
}
inline Tensor swapaxes(const Tensor& self, int64_t a, int64_t b) { return self.transpose(a, b); }
inline Tensor swapdims(const Tensor& self, int64_t a, int64_t b) { return self.transpose(a, b); }
/// The transposed matrix; a vector or a number stays as it is. Throws Error above two dimensions.
inline Tensor t(const Tensor& self) { return self.t(); }
/// Dimension i of the result is dimension `dims[i]` of `self`.
inline Tensor permute(const Tensor& self, IntArrayRef dims) { return self.permute(dims); }
/// Moves one dimension, or several, to new positions; the others keep their order.
inline Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  return self.movedim(source, destination);
}
Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
inline Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  return self.movedim(source, destination);
}
/// Entry `index` along `dim`; the dimension disappears. Throws IndexError outside [-size, size).
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  return self.select(dim, index);
}
/// Entries start, start + step, ... before `end` along `dim`, by Python's rules.
inline Tensor slice(const Tensor& self, int64_t dim = 0, OptionalDim start = {},
                    OptionalDim end = {}, int64_t step = 1) {
  return self.slice(dim, start, end, step);
}
/// `length` entries from `start` on along `dim`. Throws where they are not there.
inline Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  return self.narrow(dim, start, length);
}
/// Without the dimensions of size 1, or without `dim` if its size is 1.
inline Tensor squeeze(const Tensor& self) { return self.squeeze(); }
inline Tensor squeeze(const Tensor& self, int64_t dim) { return self.squeeze(dim); }
/// With a dimension of size 1 inserted before `dim`.
inline Tensor unsqueeze(const Tensor& self, int64_t dim) { return self.unsqueeze(dim); }
/// `self.expand(sizes)`: dimensions of size 1 repeat without using memory; -1 keeps a size.
inline Tensor broadcast_to(const Tensor& self, IntArrayRef sizes) { return self.expand(sizes); }
/// All tensors expanded to the shape that they broadcast to.
std::vector<Tensor> broadcast_tensors(TensorList tensors);
/// Any strides over the storage of `self`; `storage_offset` defaults to that of `self`. Throws
/// Error if an element would lie outside the storage.
inline Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                         OptionalDim storage_offset = {}) {
  return self.as_strided(sizes, strides, storage_offset);
}
/// The diagonal of each matrix in dimensions `dim1`, `dim2`, as the last dimension. A positive
/// `offset` lies above the main diagonal.
inline Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) {
  return self.diagonal(offset, dim1, dim2);
}

/// A complex tensor as pairs of numbers: shape [..., 2].
Tensor view_as_real(const Tensor& self);
/// Pairs of numbers (last dimension of size 2 and stride 1) as a complex tensor.
Tensor view_as_complex(const Tensor& self);
/// The real or imaginary part, as a view. `real` of a real tensor is the tensor itself; `imag` of
/// one throws Error.
Tensor real(const Tensor& self);
Tensor imag(const Tensor& self);

}  // namespace taeda
