// The gradient of Tensor::unfold, which is also how frames of a signal are put together; not part
// of the public interface.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::detail {

/// A tensor of shape `sizes` to which every window in `grad` (numbered along `dim`, its `size`
/// elements along the last dimension) is added `step` behind the one before. Differentiable.
Tensor unfold_backward(const Tensor& grad, IntArrayRef sizes, int64_t dim, int64_t size,
                       int64_t step);

}  // namespace taeda::detail
