// Gradients of weights where there are few channels: Note [Narrow convolutions] in
// kernels/conv_narrow.cu.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/kernels/conv.h"

namespace taeda::inline v0_2::gpu {

/// False, with nothing done, for convolutions of other kinds.
bool narrow_weight_grad(const Context& context, const Tensor& grad_weight, const Tensor& in,
                        const Tensor& grad_out, const ConvGeometry& geometry);

}  // namespace taeda::inline v0_2::gpu
