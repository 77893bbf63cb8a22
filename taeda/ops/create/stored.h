// Elements of dtypes that are kept and not computed with (`kStoredDtypes`): conversions, which
// every device makes of operations that it has. Not part of the public interface.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// The same memory as integers of the same size, without a history.
Tensor as_words(const Tensor& stored);
/// Integers of the same size as elements of that dtype.
Tensor from_words(const Tensor& words, ScalarType dtype);
/// The numbers in a dtype that kernels compute with: int32, int64, float32 or complex64; of uint64
/// double, which rounds numbers of more than 53 bits.
Tensor computable(const Tensor& stored);
/// What eq and ne compare: the same, but for uint64 its words.
Tensor comparable(const Tensor& stored);
/// The numbers of `in` as dtype `to`, of which one at least is stored. Integers wrap around as
/// PyTorch's do; 8-bit floats round to the nearest, to an even code between two.
Tensor convert_stored(const Tensor& in, ScalarType to);
/// Every element becomes `value`, in a tensor of any dtype.
void fill_elements(const Tensor& out, const Scalar& value);

}  // namespace taeda::inline v0_2::detail
