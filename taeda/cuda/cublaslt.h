// Matrix products by cuBLASLt, a library that is loaded when a product is first asked for.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::gpu {

/// out = alpha a b + beta addend, as matmul_slot says. False, with nothing done, where the library
/// is missing or does not take the operands: integers, strides that are no matrix of rows or
/// columns. TAEDA_CUDA_BLAS=0 in the environment turns it off.
bool cublaslt_matmul(const Context& context, const Tensor& out, const Tensor& a, const Tensor& b,
                     const Tensor& addend, const Scalar& beta, const Scalar& alpha);

}  // namespace taeda::gpu
