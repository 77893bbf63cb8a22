// The only door to oneDNN. Every function returns whether it did the work: false without oneDNN,
// when it is switched off, and for operands that it has no fast kernel for. The caller then runs
// its own.
//
// Primitives and their memory objects are kept per thread and found by shape; a call only sets
// pointers.
#pragma once

#include "taeda/kernels/conv.h"

namespace taeda::inline v0_2::cpu {

/// Whether oneDNN may be used: it is built in, TAEDA_ONEDNN=0 is not set, and nobody switched it
/// off.
bool onednn_enabled();
/// For tests that run the own kernels too; process-wide.
void set_onednn_enabled(bool on);

namespace onednn {

/// Whether products of operands of this dtype are left to oneDNN: float always, bfloat16 where the
/// machine has instructions for it.
bool multiplies(ScalarType t);

/// As matmul_slot.
bool matmul(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
            const Scalar& beta, const Scalar& alpha);

/// As conv_slot, conv_input_grad_slot and conv_weight_grad_slot.
bool conv(const Tensor& out, const Tensor& in, const Tensor& weight, const Tensor& bias,
          const ConvGeometry& geometry);
bool conv_input_grad(const Tensor& grad_in, const Tensor& grad_out, const Tensor& weight,
                     const Tensor& bias, const ConvGeometry& geometry);
bool conv_weight_grad(const Tensor& grad_weight, const Tensor& grad_bias, const Tensor& in,
                      const Tensor& grad_out, const ConvGeometry& geometry);

}  // namespace onednn
}  // namespace taeda::inline v0_2::cpu
