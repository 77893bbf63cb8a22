// Compiler attributes shared by every room.
#pragma once

/// For functions that kernels call on the host and on CUDA's devices.
#if defined(__CUDACC__)
#define TAEDA_HD __host__ __device__
#else
#define TAEDA_HD
#endif

/// For what must be inlined to be vectorised.
#define TAEDA_ALWAYS_INLINE inline __attribute__((always_inline))
/// For long functions that several kernels call.
#define TAEDA_NOINLINE __attribute__((noinline))
