// The matrix product for kernels that are made of one: whichever of oneDNN and the own kernels is
// quicker.
#pragma once

#include "taeda/kernels/matmul.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// As matmul_slot.
void matmul_kernel(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& addend,
                   const Scalar& beta, const Scalar& alpha);

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
