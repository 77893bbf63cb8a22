// Copies between devices, dtypes and layouts. The others are methods alone (tensor/tensor.h).
// [operations, method]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A copy with the same shape and values in memory of its own; gradients pass.
Tensor clone(const Tensor& self, std::optional<MemoryFormat> format = {});

}  // namespace taeda
