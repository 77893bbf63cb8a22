// Philox for neighbouring counters at once.
#pragma once

#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE {

/// Philox (kernels/philox.h) over vectors of counters. Each of the four words of a counter lies in
/// the lower half of a 64-bit lane; what the upper half holds does not matter, as the product
/// ignores it.
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

}  // namespace taeda::cpu::TAEDA_CPU_NAMESPACE
