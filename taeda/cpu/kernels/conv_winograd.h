// Convolutions of 3 x 3 taps with a quarter of the multiplications, by Winograd's algorithm
// F(4 x 4, 3 x 3): Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#pragma once

#include "taeda/cpu/kernels/conv_shape.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Whether the algorithm serves these operands, all of them float32 with a dense bias or none, and
/// is ahead of convolving directly.
bool prefers_winograd(const Shape& s);

/// As the slots of kernels/conv.h. False, and nothing that is worth reading written, where a result
/// is not finite: sums of infinities that cancel would be NaN where a direct convolution has none.
bool winograd_conv(const Shape& s, const Tensor& out, const Tensor& in, const Tensor& weight,
                   const Tensor& bias);
bool winograd_input_grad(const Shape& s, const Tensor& grad_in, const Tensor& grad_out,
                         const Tensor& weight, const Tensor& bias);
bool winograd_weight_grad(const Shape& s, const Tensor& grad_weight, const Tensor& grad_bias,
                          const Tensor& in, const Tensor& grad_out);

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
