// CUDA device code as host C++: included before every kernel source that is compiled for the
// emulator. A thread of a block is a fiber; __syncthreads and the shuffles switch between them.
#pragma once

#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulator {

/// Runs `body(context)` as every thread of every block of a kernel, which gets `shared` bytes.
void run(const char* name, size_t shared, dim3 grid, dim3 block, void (*body)(void*),
         void* context);
/// Waits for the block's threads, or those of the warp. `line` must be the same for all of them.
void block_barrier(int line);
void warp_barrier(int line);
/// The block's memory that the launch asked for.
void* shared_memory();
/// This thread's 16 bytes for the others of its warp.
void* exchange_slot(int lane);

template <class F>
void launch(const char* name, dim3 grid, dim3 block, size_t shared, cudaStream_t, F&& f) {
  run(
      name, shared, grid, block, [](void* p) { (*static_cast<std::remove_reference_t<F>*>(p))(); },
      &f);
}

inline int lane() { return static_cast<int>(threadIdx.x % 32); }

template <class T>
T shuffle(T value, int from, int line) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>);
  std::memcpy(exchange_slot(lane()), &value, sizeof(T));
  warp_barrier(line);
  std::memcpy(static_cast<void*>(&value), exchange_slot(from & 31), sizeof(T));
  warp_barrier(-line);
  return value;
}

/// 16 bytes of this thread, seen by the others of its warp while `read(lane)` is called on them.
template <class T, class Use>
void share(const T& value, int line, Use use) {
  static_assert(sizeof(T) <= 16);
  std::memcpy(exchange_slot(lane()), &value, sizeof(T));
  warp_barrier(line);
  use([](int from) {
    T x;
    std::memcpy(static_cast<void*>(&x), exchange_slot(from & 31), sizeof(T));
    return x;
  });
  warp_barrier(-line);
}

// Tensor cores (taeda/cuda/kernels/mma.cuh): what each lane gives and gets is PTX's layout.

inline void load_matrices(const void* row, uint32_t (&out)[4], bool transposed) {
  share(row, __LINE__, [&](auto read) {
    const int q = lane() / 4, r = lane() % 4;
    for (int m = 0; m < 4; ++m) {
      const auto at = [&](int i, int j) {
        return uint32_t{static_cast<const uint16_t*>(read(8 * m + i))[j]};
      };
      out[m] = transposed ? at(2 * r, q) | at(2 * r + 1, q) << 16
                          : at(q, 2 * r) | at(q, 2 * r + 1) << 16;
    }
  });
}

template <class ToFloat>
void multiply_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1, float (&sum)[4],
                    ToFloat to_float) {
  struct Registers {
    uint32_t x[4];
  };
  const int q = lane() / 4, r = lane() % 4;
  float left[2][16], right[16][2];
  const auto half = [&](uint32_t pair, int i) {
    return to_float(static_cast<uint16_t>(pair >> 16 * i));
  };
  share(Registers{{a[0], a[1], a[2], a[3]}}, __LINE__, [&](auto read) {
    for (int k = 0; k < 16; ++k)
      for (int i = 0; i < 2; ++i)
        left[i][k] = half(read(4 * q + k % 8 / 2).x[i + k / 8 * 2], k % 2);
  });
  share(Registers{{b0, b1, 0, 0}}, __LINE__, [&](auto read) {
    for (int k = 0; k < 16; ++k)
      for (int j = 0; j < 2; ++j)
        right[k][j] = half(read(4 * (2 * r + j) + k % 8 / 2).x[k / 8], k % 2);
  });
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 16; ++k) sum[i] += left[i / 2][k] * right[k][i % 2];
}

/// Of 16 x 8 and 8 x 8 floats, of which the lowest 13 bits do not count.
inline void multiply_tf32_tiles(const uint32_t (&a)[4], uint32_t b0, uint32_t b1, float (&sum)[4]) {
  struct Registers {
    uint32_t x[4];
  };
  const int q = lane() / 4, r = lane() % 4;
  float left[2][8], right[8][2];
  const auto number = [&](uint32_t bits) {
    float x;
    bits &= 0xffffe000u;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  share(Registers{{a[0], a[1], a[2], a[3]}}, __LINE__, [&](auto read) {
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 2; ++i) left[i][k] = number(read(4 * q + k % 4).x[i + k / 4 * 2]);
  });
  share(Registers{{b0, b1, 0, 0}}, __LINE__, [&](auto read) {
    for (int k = 0; k < 8; ++k)
      for (int j = 0; j < 2; ++j) right[k][j] = number(read(4 * (2 * r + j) + k % 4).x[k / 4]);
  });
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 8; ++k) sum[i] += left[i / 2][k] * right[k][i % 2];
}

}  // namespace emulator

#define __syncthreads() ::emulator::block_barrier(__LINE__)
#define __syncwarp() ::emulator::warp_barrier(__LINE__)
#define __shfl_sync(mask, v, from) ::emulator::shuffle(v, from, __LINE__)
#define __shfl_xor_sync(mask, v, d) ::emulator::shuffle(v, ::emulator::lane() ^ (d), __LINE__)
#define __shfl_up_sync(mask, v, d)                                                                 \
  ::emulator::shuffle(v, ::emulator::lane() < (d) ? ::emulator::lane() : ::emulator::lane() - (d), \
                      __LINE__)
#define __shfl_down_sync(mask, v, d) \
  ::emulator::shuffle(               \
      v, ::emulator::lane() + (d) > 31 ? ::emulator::lane() : ::emulator::lane() + (d), __LINE__)

inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
inline float __uint_as_float(uint32_t x) {
  float f;
  std::memcpy(&f, &x, 4);
  return f;
}
inline uint32_t __float_as_uint(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline void __threadfence() {}
inline void __threadfence_system() {}
template <class T>
T atomicAdd(T* p, T v) {
  return std::exchange(*p, static_cast<T>(*p + v));
}
template <class T>
T atomicExch(T* p, T v) {
  return std::exchange(*p, v);
}
template <class T>
T atomicCAS(T* p, T expected, T v) {
  const T old = *p;
  if (old == expected) *p = v;
  return old;
}
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
using std::max;
using std::min;
