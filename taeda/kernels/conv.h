// Slots of convolutions: the product with the weights, and its two gradients, each of which is what
// the others need for their own gradients.
#pragma once

#include "taeda/kernels/matmul.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// How the window moves; a plain value. Only the first `ndim` entries count.
///
/// Output position o and tap k read the input at o * stride - padding + k * dilation, or zero
/// outside. `padding` is what lies before the input; what lies behind it follows from the sizes.
struct ConvGeometry {
  int ndim = 2;  ///< spatial dimensions: 1, 2 or 3
  int64_t stride[3] = {1, 1, 1};
  int64_t padding[3] = {0, 0, 0};
  int64_t dilation[3] = {1, 1, 1};
  int64_t groups = 1;
};

/// out [N, O, ...] from in [N, C, ...] and weight [O, C / groups, ...]; bias [O] or undefined.
inline Slot<void(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
                 const ConvGeometry& geometry)>
    conv_slot{"convolution"};

/// The gradient of conv_slot's `in`, which is a transposed convolution; bias [C] or undefined is
/// added.
inline Slot<void(const Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                 const Tensor& bias, const ConvGeometry& geometry)>
    conv_input_grad_slot{"convolution_input_grad"};

/// The gradients of conv_slot's `weight` and, if defined, `bias`.
inline Slot<void(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& in,
                 const Tensor& grad_out, const ConvGeometry& geometry)>
    conv_weight_grad_slot{"convolution_weight_grad"};

/// As product_precision_slot, for a convolution with this weight. Where the answer is float32, all
/// three kernels take a weight, its gradient and a bias in float32 beside 16-bit images.
inline Slot<void(ScalarType dtype, const Tensor& weight, int64_t groups,
                 ProductPrecision* precision)>
    conv_precision_slot{"conv_precision"};

template <class F>
void for_each_conv_slot(F&& f) {
  visit_slots<&conv_slot, &conv_input_grad_slot, &conv_weight_grad_slot>(f);
}

}  // namespace taeda::inline v0_2
