// Rows of tensors copied into a batch: what loading spends its time on.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::data {

/// `source[indices]` along dimension 0 as one new contiguous tensor on the same device, without
/// history. On the CPU a row is one memcpy. Throws IndexError for an index beyond the last row.
Tensor gather_rows(const Tensor& source, ArrayRef<size_t> indices);

/// The same of a uint8 tensor, as float32 from 0 to 1: `gather_rows(...).to(kFloat).div_(255)`, bit
/// by bit, with one pass over the memory instead of three.
Tensor gather_unit_rows(const Tensor& source, ArrayRef<size_t> indices);

/// Tensors of equal shape as one, with a new dimension 0. Throws Error, in the words of
/// torch.stack, for shapes that differ and for an empty list.
Tensor stack_examples(TensorList tensors);

}  // namespace taeda::data
