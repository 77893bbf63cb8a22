// Random numbers by Philox, a block of counters at a time so that the rounds vectorise.
#include "taeda/kernels/random.h"

#include <algorithm>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/simd.h"
#include "taeda/kernels/philox.h"

namespace taeda::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int kCounters = 64;
constexpr int kWords = 4 * kCounters;  // 32-bit words of a block
constexpr int64_t kGrainBlocks = kParallelGrain / kWords;

/// Philox over vectors of counters. Each of the four words of a counter lies in the lower half of a
/// 64-bit lane; what the upper half holds does not matter, as the product ignores it.
struct PhiloxVectors {
  static constexpr int kChains = kVectorRegisters / 8;  // independent ones hide the latency
  static constexpr int kCounters = kChains * kLanes<uint64_t>;
  using V = Vec<uint64_t>;
  V c0[kChains], c1[kChains], c2[kChains], c3[kChains];

  TAEDA_ALWAYS_INLINE void start(uint64_t offset, uint64_t first) {
    V lane;
    for (int j = 0; j < kLanes<uint64_t>; ++j) lane[j] = static_cast<uint64_t>(j);
    for (int i = 0; i < kChains; ++i) {
      c0[i] = lane + (first + static_cast<uint64_t>(i * kLanes<uint64_t>));
      c1[i] = c0[i] >> 32;
      c2[i] = V{} + offset;
      c3[i] = V{} + (offset >> 32);
    }
  }

  TAEDA_ALWAYS_INLINE void run(uint64_t seed) {
    const V m0 = V{} + 0xd2511f53u, m1 = V{} + 0xcd9e8d57u;
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int i = 0; i < kChains; ++i) {
        const V a = multiply_lower_halves(m0, c0[i]), b = multiply_lower_halves(m1, c2[i]);
        c0[i] = (b >> 32) ^ c1[i] ^ (V{} + k0);
        c1[i] = b;
        c2[i] = (a >> 32) ^ c3[i] ^ (V{} + k1);
        c3[i] = a;
      }
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
  }

  /// The words, four for each counter.
  TAEDA_ALWAYS_INLINE void write(uint32_t* out) const {
    constexpr std::make_integer_sequence<int, kLanes<uint64_t>> lanes;
    for (int i = 0; i < kChains; ++i) {
      const V front = (c0[i] & 0xffffffffu) | c1[i] << 32;
      const V back = (c2[i] & 0xffffffffu) | c3[i] << 32;
      const V words[] = {detail::interleave_low(front, back, lanes),
                         detail::interleave_high(front, back, lanes)};
      std::memcpy(out + 4 * kLanes<uint64_t> * i, words, sizeof words);
    }
  }
};

/// The words at counters first .. first + kCounters - 1, four for each, as philox::words gives
/// them.
void philox_block(const PhiloxState& state, uint64_t first, uint32_t* out) {
  static_assert(kCounters % PhiloxVectors::kCounters == 0);
  for (int j = 0; j < kCounters; j += PhiloxVectors::kCounters) {
    PhiloxVectors v;
    v.start(state.counter(), first + static_cast<uint64_t>(j));
    v.run(state.key());
    v.write(out + 4 * j);
  }
}

/// Calls `f(bits, start, count)` for blocks that cover n elements; element start + j owns
/// `words` words from bits[words * j] on.
template <class F>
void for_each_block(const PhiloxState& state, int64_t n, int words, F f) {
  const int64_t per_block = kWords / words;
  const int64_t blocks = (n + per_block - 1) / per_block;
  parallel_for(0, blocks, kGrainBlocks, [&](int64_t begin, int64_t end) {
    uint32_t bits[kWords];
    for (int64_t b = begin; b < end; ++b) {
      philox_block(state, static_cast<uint64_t>(b) * kCounters, bits);
      f(static_cast<const uint32_t*>(bits), b * per_block, std::min(per_block, n - b * per_block));
    }
  });
}

uint64_t bits64(const uint32_t* bits, int64_t j) {
  return uint64_t{bits[2 * j + 1]} << 32 | bits[2 * j];
}

void uniform_kernel(const Tensor& out, double from, double to, const PhiloxState& state) {
  dispatch(FloatTypes{}, "uniform_", out.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    T* data = static_cast<T*>(out.data_ptr());
    const M low = static_cast<M>(from), width = static_cast<M>(to - from);
    for_each_block(state, out.numel(), sizeof(M) / 4,
                   [=](const uint32_t* bits, int64_t start, int64_t n) {
                     for (int64_t j = 0; j < n; ++j) {
                       M u;
                       if constexpr (sizeof(M) == 8)
                         u = philox::to_uniform(bits64(bits, j));
                       else
                         u = philox::to_uniform(bits[j]);
                       data[start + j] = static_cast<T>(low + width * u);
                     }
                   });
  });
}

void normal_kernel(const Tensor& out, double mean, double std, const PhiloxState& state) {
  dispatch(FloatTypes{}, "normal_", out.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    T* data = static_cast<T*>(out.data_ptr());
    const M m = static_cast<M>(mean), s = static_cast<M>(std);
    for_each_block(state, out.numel(), sizeof(M) / 4,
                   [=](const uint32_t* bits, int64_t start, int64_t n) {
                     for (int64_t j = 0; j < n; j += 2) {
                       M pair[2];
                       if constexpr (sizeof(M) == 8)
                         philox::to_normal(bits64(bits, j), bits64(bits, j + 1), pair, pair + 1);
                       else
                         philox::to_normal(bits[j], bits[j + 1], pair, pair + 1);
                       data[start + j] = static_cast<T>(m + s * pair[0]);
                       if (j + 1 < n) data[start + j + 1] = static_cast<T>(m + s * pair[1]);
                     }
                   });
  });
}

void randint_kernel(const Tensor& out, int64_t from, uint64_t range, const PhiloxState& state) {
  const bool wide = range > UINT32_MAX;
  dispatch(RealBoolTypes{}, "random_", out.dtype(), [&]<class T>() {
    T* data = static_cast<T*>(out.data_ptr());
    for_each_block(
        state, out.numel(), wide ? 2 : 1, [=](const uint32_t* bits, int64_t start, int64_t n) {
          for (int64_t j = 0; j < n; ++j) {
            const uint64_t value = wide ? bits64(bits, j) % range : bits[j] % range;
            const auto shifted = static_cast<int64_t>(value + static_cast<uint64_t>(from));
            data[start + j] = static_cast<T>(static_cast<opmath_t<T>>(shifted));
          }
        });
  });
}

void dropout_kernel(const Tensor& out, const Tensor& in, double keep, double scale,
                    const PhiloxState& state) {
  const auto limit = static_cast<uint64_t>(keep * 0x1p32);  // below 2^32: 0 < keep < 1
  const auto below = static_cast<uint32_t>(std::min<uint64_t>(limit, UINT32_MAX));
  dispatch(FloatTypes{}, "dropout", out.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    T* to = static_cast<T*>(out.data_ptr());
    const T* from = static_cast<const T*>(in.data_ptr());
    const M factor = static_cast<M>(scale);
    for_each_block(state, out.numel(), 1, [=](const uint32_t* bits, int64_t start, int64_t n) {
      T* y = to + start;
      const T* x = from + start;
      // Copies, which no store to y can change: so the choice is a mask, not a branch.
      const M kept = factor;
      const uint32_t bound = below;
#pragma GCC ivdep
      for (int64_t j = 0; j < n; ++j) {
        const M weight = bits[j] < bound ? kept : M(0);
        y[j] = static_cast<T>(static_cast<M>(x[j]) * weight);
      }
    });
  });
}

}  // namespace

void register_random() {
  uniform_slot.set(kCPU, &uniform_kernel);
  normal_slot.set(kCPU, &normal_kernel);
  randint_slot.set(kCPU, &randint_kernel);
  dropout_slot.set(kCPU, &dropout_kernel);
}

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
