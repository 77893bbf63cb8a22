// The dtype that an operation on several operands computes in.
#pragma once

#include "taeda/tensor/iter.h"

namespace taeda::inline v0_2 {

/// PyTorch's torch.result_type over any mix of tensors and numbers: tensors with dimensions decide,
/// then 0-dim tensors if they are of a higher category (bool < integer < float < complex), then
/// numbers.
ScalarType result_type(ArrayRef<Operand> operands);

}  // namespace taeda
