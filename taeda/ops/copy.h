// Copies between devices, dtypes and layouts. Methods: Tensor::to, cpu, cuda, contiguous, clone,
// copy_, pin_memory, item, fill_, zero_.
// [operations, method]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// A copy with the same values, differentiable.
Tensor clone(const Tensor& self, MemoryFormat format = MemoryFormat::Preserve);

}  // namespace taeda
