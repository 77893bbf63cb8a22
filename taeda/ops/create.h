// Making tensors.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda {

/// Uninitialised memory.
Tensor empty(IntArrayRef sizes, const TensorOptions& options = {});
Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
/// dtype follows `value` if the options have none: int64 for integers, bool, the default for floats.
Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});

}  // namespace taeda
