// Random numbers by Philox, a block of counters at a time so that the rounds vectorise.
#include "taeda/kernels/random.h"

#include <algorithm>
#include <cstring>

#include "taeda/base/parallel_for.h"
#include "taeda/cpu/kernels/philox_vectors.h"
#include "taeda/kernels/philox.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

namespace {

constexpr int kCounters = 64;
constexpr int kWords = 4 * kCounters;  // 32-bit words of a block
constexpr int64_t kGrainBlocks = kParallelGrain / kWords;

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
    const M low = static_cast<M>(from), width = static_cast<M>(to - from), end = static_cast<M>(to);
    for_each_block(state, out.numel(), sizeof(M) / 4,
                   [=](const uint32_t* bits, int64_t start, int64_t n) {
                     for (int64_t j = 0; j < n; ++j) {
                       M u;
                       if constexpr (sizeof(M) == 8)
                         u = philox::to_uniform(bits64(bits, j));
                       else
                         u = philox::to_uniform(bits[j]);
                       const T x = static_cast<T>(low + width * u);
                       // Rounding may have reached the end, which does not belong to the range.
                       data[start + j] = static_cast<M>(x) < end ? x : static_cast<T>(low);
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
  const uint32_t below = philox::kept_below(keep);
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

void dropout_kept_kernel(const Tensor& out, const Tensor& in, const Tensor& kept, double keep) {
  constexpr int64_t kBits = 32;  // whose shifts vectorise for float
  const int64_t n = out.numel(), words = (n + kBits - 1) / kBits;
  dispatch(FloatTypes{}, "dropout", out.dtype(), [&]<class T>() {
    using M = opmath_t<T>;
    T* to = static_cast<T*>(out.data_ptr());
    const T* from = static_cast<const T*>(in.data_ptr());
    const auto* bits = static_cast<const char*>(kept.data_ptr());
    const M factor = static_cast<M>(static_cast<T>(M(1) / static_cast<M>(keep)));
    parallel_for(0, words, kParallelGrain / kBits, [&](int64_t begin, int64_t end) {
      for (int64_t w = begin; w < end; ++w) {
        uint32_t word;
        std::memcpy(&word, bits + w * int64_t{sizeof word}, sizeof word);
        T* y = to + w * kBits;
        const T* x = from + w * kBits;
        // Copies, which no store to y can change: so the choice is a mask, not a branch.
        const M chosen = factor;
        const uint32_t flags = word;
        const int count = static_cast<int>(std::min(kBits, n - w * kBits));
#pragma GCC ivdep
        for (int j = 0; j < count; ++j) {
          const M weight = flags >> j & 1 ? chosen : M(0);
          y[j] = static_cast<T>(static_cast<M>(x[j]) * weight);
        }
      }
    });
  });
}

}  // namespace

void register_random() {
  fill_slots<On<uniform_slot, uniform_kernel>, On<normal_slot, normal_kernel>,
             On<randint_slot, randint_kernel>, On<dropout_slot, dropout_kernel>,
             On<dropout_kept_slot, dropout_kept_kernel>>(kCPU);
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE
