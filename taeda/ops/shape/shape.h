// Views: the same memory seen with another shape. None of these functions copies, except `reshape`
// and `flatten` where no view can do. A change through a view changes the tensor it was taken from.
// [operations, method, view]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// The tensor with shape `shape` (one -1 is inferred): a view where strides allow it, else a copy.
/// [view: maybe]
Tensor reshape(const Tensor& self, IntArrayRef shape);
/// Joins dimensions `start_dim` to `end_dim` (inclusive) into one.
/// [view: maybe]
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
/// `flatten()`; PyTorch's name for it.
/// [view: maybe]
inline Tensor ravel(const Tensor& self) { return self.flatten(); }
/// Cuts dimension `dim` into dimensions of `sizes`, one of which may be -1.
Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes);
/// The tensor with two dimensions swapped.
/// [in-place: own, also: swapaxes swapdims]
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
/// The transposed matrix; a vector or a number stays as it is. Throws Error above two dimensions.
/// [in-place: own]
Tensor t(const Tensor& self);
/// The dimensions in another order: dimension i of the result is dimension `dims[i]` of `self`.
/// Throws Error unless each is named once.
Tensor permute(const Tensor& self, IntArrayRef dims);
/// Moves one dimension, or several, to new positions; the others keep their order.
/// [also: moveaxis]
Tensor movedim(const Tensor& self, int64_t source, int64_t destination);
Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination);
/// Entry `index` along `dim`; the dimension disappears. Throws IndexError outside [-size, size).
Tensor select(const Tensor& self, int64_t dim, int64_t index);
/// Entries start, start + step, ... before `end` along `dim`, by Python's rules.
Tensor slice(const Tensor& self, int64_t dim = 0, OptionalDim start = {}, OptionalDim end = {},
             int64_t step = 1);
/// `length` entries from `start` on along `dim`. Throws where they are not there.
Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length);
/// `length` entries from a 0-dim tensor of integers on. Waits for its device.
Tensor narrow(const Tensor& self, int64_t dim, const Tensor& start, int64_t length);
/// The tensor without its dimensions of size 1, or without `dim` if its size is 1.
/// [in-place: own]
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, int64_t dim);
/// The tensor with a dimension of size 1 inserted before `dim`. Throws IndexError outside [-dim() -
/// 1, dim()].
/// [in-place: own]
Tensor unsqueeze(const Tensor& self, int64_t dim);
/// `self.expand(size)`: dimensions of size 1 repeat without using memory; -1 keeps a size.
inline Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }
/// All tensors expanded to the shape that they broadcast to.
/// [composite]
std::vector<Tensor> broadcast_tensors(TensorList tensors);
/// Any strides over the storage of `self`; `storage_offset` defaults to that of `self`. Throws
/// Error if an element would lie outside the storage.
Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  OptionalDim storage_offset = {});
/// The diagonal of each matrix in dimensions `dim1`, `dim2`, as the last dimension. A positive
/// `offset` lies above the main diagonal.
Tensor diagonal(const Tensor& self, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);

/// The conjugate of the transposed matrices: [*, n, m] to [*, m, n].
/// [view: maybe, composite]
Tensor adjoint(const Tensor& self);
/// Whether both have the same sizes.
/// [not view]
inline bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes();
}

/// A complex tensor as pairs of numbers: shape [..., 2].
/// [not method]
Tensor view_as_real(const Tensor& self);
/// Pairs of numbers (last dimension of size 2 and stride 1) as a complex tensor.
/// [not method, autocast: float32 host]
Tensor view_as_complex(const Tensor& self);
/// The real or imaginary part, as a view of the same shape. `real` of a real tensor is the tensor
/// itself; `imag` of one throws Error.
/// [not method]
Tensor real(const Tensor& self);
Tensor imag(const Tensor& self);

}  // namespace taeda
