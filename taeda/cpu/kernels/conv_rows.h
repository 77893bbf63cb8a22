// Convolutions of many small images as one product, in which every position of every image is a
// row.
#pragma once

#include "taeda/cpu/kernels/conv_shape.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Whether the product is ahead of convolving image by image, for outputs and gradients by inputs,
/// or for those by weights: Note [Small images].
bool prefers_rows(const Shape& s);
bool prefers_rows_for_weights(const Shape& s);

/// Whether the matrix of all positions is too large to be made at once, so that gradients by the
/// weights are sums of several products.
bool is_in_parts(const Shape& s);

/// As the slots of kernels/conv.h; all operands of one dtype, float32 or bfloat16, in any layout
/// without overlap, and a dense bias.
void conv_rows(const Shape& s, const Tensor& out, const Tensor& in, const Tensor& weight,
               const Tensor& bias);
void input_grad_rows(const Shape& s, const Tensor& grad_in, const Tensor& grad_out,
                     const Tensor& weight, const Tensor& bias);
void weight_grad_rows(const Shape& s, const Tensor& grad_weight, const Tensor& grad_bias,
                      const Tensor& in, const Tensor& grad_out);

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
