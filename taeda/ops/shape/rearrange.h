// Copies of a tensor with its elements repeated, reversed, shifted or cut to a triangle.
// [operations, method, out]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// `repeats[i]` copies along dimension i; more numbers than dimensions add dimensions in front, and
/// fewer throw Error.
Tensor repeat(const Tensor& self, IntArrayRef repeats);
/// `repeat`, where missing numbers stand for 1 in front.
Tensor tile(const Tensor& self, IntArrayRef repeats);
/// Every entry along `dim` (of the flattened tensor, without one) `repeats` times in a row; or
/// entry i repeats[i] times. Throws Error unless the size is `output_size`, if that is given.
Tensor repeat_interleave(const Tensor& self, int64_t repeats, OptionalDim dim = {},
                         OptionalDim output_size = {});
Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, OptionalDim dim = {},
                         OptionalDim output_size = {});
/// A vector of 0 repeats[0] times, 1 repeats[1] times, ...
/// [not method]
Tensor repeat_interleave(const Tensor& repeats, OptionalDim output_size = {});
/// The elements in reverse order along `dims`, in a copy of the same shape. Throws Error for a
/// dimension named twice.
Tensor flip(const Tensor& self, IntArrayRef dims);
/// The elements in reverse order along dimension 1 (fliplr) or 0 (flipud). Throws Error for fewer
/// dimensions.
/// [not in-place, composite]
Tensor fliplr(const Tensor& self);
Tensor flipud(const Tensor& self);
/// The tensor rotated by k times 90 degrees, from the first towards the second dimension of `dims`.
/// [composite]
Tensor rot90(const Tensor& self, int64_t k = 1, IntArrayRef dims = {0, 1});
/// The tensor in its shape with elements shifted along `dims`; what leaves at one end comes in at
/// the other. Without dims, the flattened tensor is shifted.
Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims = {});
/// Matrices [*, n, m] with zeros above (below) the `diagonal`-th diagonal. Throws Error for fewer
/// dimensions.
/// [in-place]
Tensor tril(const Tensor& self, int64_t diagonal = 0);
Tensor triu(const Tensor& self, int64_t diagonal = 0);
/// A vector as the `diagonal`-th diagonal of a matrix of zeros, or that diagonal of a matrix as a
/// vector. Throws Error for other numbers of dimensions.
/// [composite]
Tensor diag(const Tensor& self, int64_t diagonal = 0);
/// The last dimension of [*, n] as the diagonal `offset` of matrices in new dimensions `dim1` and
/// `dim2`, of size n + |offset| each.
/// [composite]
Tensor diag_embed(const Tensor& self, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);

}  // namespace taeda
