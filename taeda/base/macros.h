// What the compiler must be told, and its attributes, shared by every room.
#pragma once

#if defined(__cplusplus) && __cplusplus < 201709L
#error "Taeda needs C++20: compile with -std=c++20"
#include <C++20>  // which is nowhere: the compiler stops here
#endif

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
