// Contractions named by their indices.
// [operations]
#pragma once

#include <string>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Einstein's summation: "ij,jk->ik" is the matrix product. Letters name dimensions; one that
/// occurs twice in an operand takes the diagonal; "..." stands for dimensions that broadcast;
/// without "->" the output has the ellipsis and then, in alphabetical order, the letters that occur
/// once. Operands are contracted from left to right; another order in `path` is accepted and gives
/// the same sums. Throws Error, in PyTorch's words, for a malformed equation or sizes that do not
/// fit.
Tensor einsum(std::string_view equation, TensorList operands, IntArrayRef path = {});

/// Sums over pairs of dimensions: dims_self[i] of `self` with dims_other[i] of `other`. The result
/// has the other dimensions of `self`, then those of `other`.
/// [composite]
Tensor tensordot(const Tensor& self, const Tensor& other, IntArrayRef dims_self,
                 IntArrayRef dims_other);
/// The last `dims` dimensions of `self` with the first of `other`.
/// [composite]
Tensor tensordot(const Tensor& self, const Tensor& other, int64_t dims = 2);

}  // namespace taeda::inline v0_2
