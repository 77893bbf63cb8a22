// Matrix decompositions by cuSOLVER and cuBLAS, which are loaded when one is first asked for. The
// functions do what the slots of kernels/linalg.h say. Without the libraries, or under
// TAEDA_CUDA_SOLVER=0, they throw NotImplementedError.
#pragma once

#include "taeda/cuda/context.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::gpu {

void cusolver_cholesky(const Tensor& a, const Tensor& info);
void cusolver_lu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot);
void cublas_triangular_solve(const Tensor& a, const Tensor& x, bool upper, bool transpose,
                             bool unitriangular);
void cusolver_qr(const Tensor& a, const Tensor& q);
void cusolver_eigh(const Tensor& a, const Tensor& values, const Tensor& info, bool vectors);
void cusolver_svd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh,
                  const Tensor& info);

/// out[i] = first + i * step, in device memory: the batched functions take addresses
/// (kernels/linalg.cu).
void write_addresses(const Context& context, void** out, void* first, int64_t step, int64_t count);

}  // namespace taeda::gpu
