// Biases of convolutions.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::gpu {

/// Adds bias [C], unless it is undefined, to the channels of out [N, C, ...]. For convolutions by
/// cuDNN, whose own addition is slow in channels-last memory, and deprecated.
void add_bias(const Tensor& out, const Tensor& bias);

}  // namespace taeda::gpu
