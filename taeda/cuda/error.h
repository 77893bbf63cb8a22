// Errors of the CUDA runtime, as exceptions.
#pragma once

#include <cuda_runtime_api.h>

namespace taeda::inline v0_2::gpu {

[[noreturn]] void throw_cuda_error(cudaError_t status, const char* what);

/// Throws Error, naming `what` was tried, unless `status` is cudaSuccess.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) [[unlikely]]
    throw_cuda_error(status, what);
}

/// Whether TAEDA_LAUNCH_BLOCKING asks every launch to wait for its kernel.
bool launch_blocking();

}  // namespace taeda::gpu
