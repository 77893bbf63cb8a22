// Compiler attributes shared by every room.
#pragma once

#if defined(__CUDACC__)
#define TAEDA_HD __host__ __device__
#else
#define TAEDA_HD
#endif

#define TAEDA_ALWAYS_INLINE inline __attribute__((always_inline))
/// For long functions that several kernels call.
#define TAEDA_NOINLINE __attribute__((noinline))
