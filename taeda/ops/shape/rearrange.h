// Copies of a tensor with its elements repeated, reversed, shifted or cut to a triangle.
// [operations, method, out]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// `repeats[i]` copies along dimension i; more numbers than dimensions add dimensions in front.
Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// The same, where missing numbers stand for 1 in front.
Tensor tile(const Tensor& self, IntArrayRef repeats);
/// Every entry along `dim` (of the flattened tensor, without one) `repeats` times in a row; or
/// entry i repeats[i] times. Throws Error unless the size is `output_size`, if that is given.
Tensor repeat_interleave(const Tensor& self, int64_t repeats, OptionalDim dim = {},
                         OptionalDim output_size = {});
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, OptionalDim dim = {},
                         OptionalDim output_size = {});
/// 0 repeats[0] times, 1 repeats[1] times, ...
/// [not method]
Tensor repeat_interleave(const Tensor& repeats, OptionalDim output_size = {});
/// The order of the elements along `dims` reversed. Unlike numpy's it is a copy.
Tensor flip(const Tensor& self, IntArrayRef dims);
/// [not in-place, composite]
Tensor fliplr(const Tensor& self);
Tensor flipud(const Tensor& self);
/// Rotated by k times 90 degrees, from the first towards the second dimension of `dims`.
/// [composite]
Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1});
/// Shifted along `dims`; what leaves at one end comes in at the other. Without dims, the flattened
/// tensor is shifted.
Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
/// Matrices (last two dimensions) with zeros above (below) the `diagonal`-th diagonal.
/// [in-place]
Tensor tril(const Tensor& self, int64_t diagonal = 0);
Tensor triu(const Tensor& self, int64_t diagonal = 0);
/// A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector.
/// [composite]
Tensor diag(const Tensor& self, int64_t diagonal = 0);
/// The last dimension as the diagonal of matrices in new dimensions `dim1` and `dim2`.
/// [composite]
Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

}  // namespace taeda
