// What kernels share: fast division, strided addressing, conversions between stored types and the
// types that arithmetic is done in, launch sizes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "taeda/base/dtype.h"
#include "taeda/cuda/context.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::gpu {

constexpr int kThreads = 256;

/// Blocks of kThreads for n elements, one for each thread. Kernels loop: the number is bounded.
inline unsigned blocks_for(int64_t n) {
  const int64_t blocks = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > (1 << 20) ? 1 << 20 : blocks);
}

/// The first element of this thread, and the distance to its next one.
__device__ inline int64_t thread_index() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline int64_t thread_count() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

/// Division by a number that is known before the launch: a multiplication and a shift while the
/// dividend is below 2^31 (Granlund and Montgomery, PLDI 1994), the hardware's slow one above.
struct Divider {
  int64_t divisor = 1;
  uint32_t magic = 1, shift = 0;

  Divider() = default;
  /// What divides nothing, 0, counts as 1.
  explicit Divider(int64_t number) : divisor(number > 0 ? number : 1) {
    const int64_t d = divisor;
    if (d >= int64_t{1} << 31) return;
    while ((int64_t{1} << shift) < d) ++shift;
    magic = static_cast<uint32_t>(
        ((uint64_t{1} << 32) * ((uint64_t{1} << shift) - static_cast<uint64_t>(d))) /
            static_cast<uint64_t>(d) +
        1);
  }
  __device__ void divide(int64_t n, int64_t& quotient, int64_t& rest) const {
    constexpr int64_t kLimit = int64_t{1} << 31;
    if (n < kLimit && divisor < kLimit) {
      const uint32_t x = static_cast<uint32_t>(n);
      const uint32_t q = (__umulhi(x, magic) + x) >> shift;
      quotient = q;
      rest = x - q * static_cast<uint32_t>(divisor);
    } else {
      quotient = n / divisor;
      rest = n % divisor;
    }
  }
  /// Of numbers that are known to be below 2^31; so must the divisor be, or the dividend 0.
  __device__ void divide(int32_t n, int32_t& quotient, int32_t& rest) const {
    const uint32_t x = static_cast<uint32_t>(n), q = (__umulhi(x, magic) + x) >> shift;
    quotient = static_cast<int32_t>(q);
    rest = static_cast<int32_t>(x - q * static_cast<uint32_t>(divisor));
  }
};

/// Where the i-th element, in row-major order, lies in each of N operands of one shape.
template <int N>
struct Offsets {
  int ndim = 0;
  int64_t numel = 1;
  Divider size[kMaxLoopDims];
  int64_t stride[N][kMaxLoopDims];

  Offsets() = default;
  /// Joins dimensions that follow each other in every operand.
  Offsets(IntArrayRef shape, const IntArrayRef (&strides)[N]) {
    for (size_t d = shape.size(); d-- > 0;) {
      int64_t s[N];
      for (int i = 0; i < N; ++i) s[i] = strides[i][d];
      add(shape[d], s);
    }
    finish();
  }
  /// One more dimension, outside of those so far. `finish` is called after the last.
  void add(int64_t length, const int64_t (&strides)[N]) {
    numel *= length;
    if (length == 1) return;
    bool joins = ndim > 0;
    for (int i = 0; joins && i < N; ++i)
      joins = strides[i] == stride[i][ndim - 1] * size[ndim - 1].divisor;
    if (joins) {
      size[ndim - 1].divisor *= length;
      return;
    }
    size[ndim].divisor = length;
    for (int i = 0; i < N; ++i) stride[i][ndim] = strides[i];
    ++ndim;
  }
  void finish() {
    for (int d = 0; d < ndim; ++d) size[d] = Divider(size[d].divisor);
  }
  __device__ void at(int64_t i, int64_t (&out)[N]) const {
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] = 0;
    for (int d = 0; d + 1 < ndim; ++d) {
      int64_t rest;
      size[d].divide(i, i, rest);
#pragma unroll
      for (int j = 0; j < N; ++j) out[j] += rest * stride[j][d];
    }
    if (ndim == 0) return;
#pragma unroll
    for (int j = 0; j < N; ++j) out[j] += i * stride[j][ndim - 1];
  }
};

/// A stored value as arithmetic wants it.
template <class T>
__device__ inline opmath_t<T> widen(T x) {
  if constexpr (std::is_same_v<T, Half>) {
    __half_raw raw;
    raw.x = x.bits;
    return __half2float(__half(raw));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return __uint_as_float(static_cast<uint32_t>(x.bits) << 16);
  } else {
    return x;
  }
}

/// A result as it is stored.
template <class T, class R>
__device__ inline T narrow(R r) {
  if constexpr (std::is_same_v<T, R>) {
    return r;
  } else if constexpr (std::is_same_v<T, Half>) {
    T out;
    out.bits = __half_raw(__float2half_rn(static_cast<float>(r))).x;
    return out;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    T out;
    out.bits = __nv_bfloat16_raw(__float2bfloat16_rn(static_cast<float>(r))).x;
    return out;
  } else {
    return static_cast<T>(r);
  }
}

// Note [Types at run time]
// Most kernels are compiled for the types that arithmetic is done in - float, double, int64_t,
// complex<double> - and told at run time what lies in memory, the same for all threads. That keeps
// the library small; the branch is around a batch of loads, not inside of it.

/// The dtype that `compute types` stand for: what kernels compute in for stored elements of `t`.
inline ScalarType compute_dtype(ScalarType t) {
  if (is_complex(t)) return kComplexDouble;
  if (t == kDouble) return kDouble;
  return is_floating_point(t) ? kFloat : kLong;
}

/// Calls `f.template operator()<A>()` with the member of the list that serves `t`.
template <class... A, class F>
void dispatch_compute(TypeList<A...>, const char* op, ScalarType t, F&& f) {
  const ScalarType wanted = compute_dtype(t);
  const bool found = ((wanted == dtype_of<A>() && (f.template operator()<A>(), true)) || ...);
  if (!found) detail::throw_no_dtype(op, t);
}
using FloatCompute = TypeList<float, double>;
using RealCompute = TypeList<float, double, int64_t>;
using AllCompute = TypeList<float, double, int64_t, complex<double>>;

/// Calls `f(T())` with the stored type `t`, one of those that are computed in A, or in what A can
/// hold (16-bit floats and float in double).
template <class A, class F>
__device__ inline void with_stored(ScalarType t, F&& f) {
  if constexpr (std::is_same_v<A, int64_t>) {
    switch (t) {
      case kLong: return f(int64_t());
      case kInt: return f(int32_t());
      case kShort: return f(int16_t());
      case kChar: return f(int8_t());
      case kBool: return f(bool());
      default: return f(uint8_t());
    }
  } else if constexpr (std::is_same_v<A, complex<double>>) {
    if (t == kComplexFloat) return f(complex<float>());
    return f(complex<double>());
  } else {
    if (t == kHalf) return f(Half());
    if (t == kBFloat16) return f(BFloat16());
    if (std::is_same_v<A, float> || t == kFloat) return f(float());
    if constexpr (std::is_same_v<A, double>) return f(double());
  }
}

/// The element at `p` in A.
template <class A>
__device__ inline A load_as(const void* p, ScalarType t) {
  A out{};
  with_stored<A>(t, [&]<class T>(T) { out = static_cast<A>(widen(*static_cast<const T*>(p))); });
  return out;
}
template <class A>
__device__ inline void store_as(void* p, ScalarType t, A value) {
  with_stored<A>(t, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>)
      *static_cast<T*>(p) = value != 0;
    else
      *static_cast<T*>(p) = narrow<T>(value);
  });
}

/// Elements that a thread moves together.
template <class T, int V>
struct alignas(sizeof(T) * V <= 16 ? sizeof(T) * V : 16) Pack {
  T x[V];
};

// Loops over a pack have a fixed end: an array with a counted index would lie in memory.

/// Elements [i, i + 4) of an array of n that starts at a multiple of 16 bytes, or of fewer that are
/// left; i is a multiple of 4. The others become zero.
template <class A>
__device__ inline void load4(const void* base, ScalarType t, int64_t i, int64_t n, A (&out)[4]) {
  with_stored<A>(t, [&]<class T>(T) {
    const T* from = static_cast<const T*>(base) + i;
    Pack<T, 4> pack{};
    if (i + 4 <= n) {
      pack = *reinterpret_cast<const Pack<T, 4>*>(from);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k)
        if (i + k < n) pack.x[k] = from[k];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) out[k] = static_cast<A>(widen(pack.x[k]));
  });
}
template <class A>
__device__ inline void store4(void* base, ScalarType t, int64_t i, int64_t n, const A (&in)[4]) {
  with_stored<A>(t, [&]<class T>(T) {
    T* to = static_cast<T*>(base) + i;
    Pack<T, 4> pack;
#pragma unroll
    for (int k = 0; k < 4; ++k) pack.x[k] = narrow<T>(in[k]);
    if (i + 4 <= n) {
      *reinterpret_cast<Pack<T, 4>*>(to) = pack;
      return;
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k < n) to[k] = pack.x[k];
  });
}
inline bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

/// An unsigned type as large as an element, for kernels that only move.
struct alignas(16) Word16 {
  uint64_t a, b;
};
template <class F>
void with_word(int64_t item, F&& f) {
  switch (item) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    case 8: return f(uint64_t());
    default: return f(Word16());
  }
}

}  // namespace taeda::inline v0_2::gpu
