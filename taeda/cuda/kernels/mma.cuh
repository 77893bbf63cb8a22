// Products of small tiles on tensor cores, by a warp (PTX ISA, "Matrix fragments for mma.m16n8k16",
// "for mma.m16n8k8" and "ldmatrix"), and copies to shared memory that nobody waits for. Compute
// capability 8.0 and newer.
//
// A lane is 4 q + r. A product of 16 x 16 and 16 x 8 gives the lane rows q (numbers 0 and 1) and
// q + 8 (2 and 3), columns 2 r and 2 r + 1 of the result; one of 16 x 8 and 8 x 8 does, too.
#pragma once

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

#if defined(__CUDACC__)

/// Four 8 x 8 matrices from shared memory: lane l gives the address of row l % 8 of matrix l / 8
/// and receives of each matrix elements 2 r and 2 r + 1 of row q, or of column q.
template <bool kTransposed>
__device__ inline void load_matrices(const void* row, uint32_t (&out)[4]) {
#if __CUDA_ARCH__ >= 800
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(address)
                 : "memory");
#endif
}

/// sum += a b
template <class T>
__device__ inline void multiply_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                      float (&sum)[4]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// sum += a b of 16 x 8 and 8 x 8 floats, rounded to TF32. A lane gives rows q and q + 8 of column
/// r and then of column r + 4 of the left one; of the right one, rows r and r + 4 of column q.
__device__ inline void multiply_tf32_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                                           float (&sum)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/// `kBytes` (4 or 16) of global memory to shared memory, or zeros where they are not `there`, after
/// this thread's next `wait_for_copies`.
template <int kBytes>
__device__ inline void begin_copy(void* to, const void* from, bool there) {
#if __CUDA_ARCH__ >= 800
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int count = there ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(address), "l"(from), "r"(count)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 :
                 : "r"(address), "l"(from), "n"(kBytes), "r"(count)
                 : "memory");
#endif
}
__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#else  // the host's compiler, for tests/cuda_emulator

template <bool kTransposed>
void load_matrices(const void* row, uint32_t (&out)[4]) {
  emulator::load_matrices(row, out, kTransposed);
}
template <class T>
void multiply_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1, float (&sum)[4]) {
  emulator::multiply_tiles(a, b0, b1, sum, [](uint16_t bits) {
    T x;
    x.bits = bits;
    return static_cast<float>(x);
  });
}
inline void multiply_tf32_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1, float (&sum)[4]) {
  emulator::multiply_tf32_tiles(a, b0, b1, sum);
}
template <int kBytes>
void begin_copy(void* to, const void* from, bool there) {
  struct Bytes {
    char x[kBytes];
  };
  *static_cast<Bytes*>(to) = there ? *static_cast<const Bytes*>(from) : Bytes{};
}
inline void wait_for_copies() {}

#endif

/// Two numbers as one register, the first in the lower half.
template <class T>
__device__ inline uint32_t pack_pair(float first, float second) {
  return uint32_t{narrow<T>(first).bits} | uint32_t{narrow<T>(second).bits} << 16;
}

}  // namespace taeda::inline v0_2::gpu
