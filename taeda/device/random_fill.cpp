#include "taeda/device/random_fill.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::detail {

namespace {

constexpr int kWords = 624, kMiddle = 397;

TAEDA_ALWAYS_INLINE uint32_t twisted(uint32_t high, uint32_t low) {
  const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (y >> 1) ^ (-(low & 1u) & 0x9908b0dfu);
}

TAEDA_ALWAYS_INLINE void twist(uint32_t* s) {
  for (int i = 0; i < kWords - kMiddle; ++i) s[i] = s[i + kMiddle] ^ twisted(s[i], s[i + 1]);
  // Reads what the loop above wrote, 227 words back: cut so that no piece reads its own words.
  constexpr int kBack = kWords - kMiddle;
  for (int i = kBack; i < 2 * kBack; ++i) s[i] = s[i - kBack] ^ twisted(s[i], s[i + 1]);
  for (int i = 2 * kBack; i < kWords - 1; ++i) s[i] = s[i - kBack] ^ twisted(s[i], s[i + 1]);
  s[kWords - 1] = s[kMiddle - 1] ^ twisted(s[kWords - 1], s[0]);
}

TAEDA_ALWAYS_INLINE void temper(const uint32_t* __restrict s, uint32_t* __restrict out) {
  for (int i = 0; i < kWords; ++i) {
    uint32_t y = s[i];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    out[i] = y ^ (y >> 18);
  }
}

TAEDA_ALWAYS_INLINE void to_floats(const uint32_t* __restrict bits, float* __restrict out,
                                   int64_t n, float from, float to) {
  const float span = to - from;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<float>(static_cast<int32_t>(bits[i] & 0xffffffu)) * 0x1p-24f;
    out[i] = __builtin_fmaf(x, span, from);  // rounded once, as PyTorch's instruction does it
  }
}

TAEDA_ALWAYS_INLINE void below(const uint32_t* draws, uint64_t* __restrict out, int64_t words,
                               int64_t limit) {
  for (int64_t w = 0; w < words; ++w, draws += 128) {
    uint8_t flags[64];
    for (int i = 0; i < 64; ++i) {
      uint64_t pair;
      std::memcpy(&pair, draws + 2 * i, sizeof pair);
      pair = pair << 32 | pair >> 32;
      flags[i] = static_cast<int64_t>(pair & ((uint64_t{1} << 53) - 1)) < limit;
    }
    uint64_t bits = 0;
    for (int k = 0; k < 8; ++k) {
      uint64_t eight;
      std::memcpy(&eight, flags + 8 * k, sizeof eight);
      bits |= (eight * 0x0102040810204080u >> 56) << 8 * k;
    }
    out[w] = bits;
  }
}

/// ln(u) for normal u > 0: u = 2^e * m with m near 1, ln(m) = 2 atanh((m - 1) / (m + 1)).
TAEDA_ALWAYS_INLINE float log_positive(float u) {
  const int32_t bits = std::bit_cast<int32_t>(u);
  const int32_t e = (bits - 0x3f3504f3) >> 23;  // m in [sqrt(1/2), sqrt(2))
  const float m = std::bit_cast<float>(bits - (e << 23));
  const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
  const float series = 2.0f + z * (2.0f / 3 + z * (2.0f / 5 + z * (2.0f / 7 + z * (2.0f / 9))));
  const auto k = static_cast<float>(e);
  return k * 0.693359375f + (s * series + k * -2.12194440e-4f);
}

/// sin and cos of 2 pi t for t in [0, 1): the nearest quarter turn, and a Taylor series for the
/// rest.
TAEDA_ALWAYS_INLINE void sincos_turn(float t, float* sin, float* cos) {
  const int32_t quarter = static_cast<int32_t>(t * 4.0f + 0.5f);
  const float x = (t - static_cast<float>(quarter) * 0.25f) * 6.28318530718f, z = x * x;
  const float s =
      x * (1.0f + z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880)))));
  const float c =
      1.0f + z * (-0.5f +
                  z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320 + z * (-1.0f / 3628800)))));
  const bool odd = quarter & 1;
  const float a = odd ? c : s, b = odd ? s : c;
  *sin = quarter & 2 ? -a : a;
  *cos = (quarter + 1) & 2 ? -b : b;
}

TAEDA_ALWAYS_INLINE void box_muller(float* data, int64_t blocks, float mean, float std) {
  for (int64_t k = 0; k < blocks; ++k, data += 16) {
    float out[16];
    for (int j = 0; j < 8; ++j) {
      const float radius = std::sqrt(-2.0f * log_positive(1.0f - data[j]));
      float s, c;
      sincos_turn(data[j + 8], &s, &c);
      out[j] = radius * c * std + mean;
      out[j + 8] = radius * s * std + mean;
    }
    for (int j = 0; j < 16; ++j) data[j] = out[j];
  }
}

}  // namespace

// The loops above once per instruction set; the widest that the processor has is taken.
#if defined(__x86_64__)
#define TAEDA_EACH_LEVEL(X) X(avx512, "avx512f,avx512vl,avx512dq,avx512bw,fma") X(avx2, "avx2,fma")
#else
#define TAEDA_EACH_LEVEL(X)
#endif

namespace {

struct Loops {
  void (*twist)(uint32_t*);
  void (*temper)(const uint32_t*, uint32_t*);
  void (*to_floats)(const uint32_t*, float*, int64_t, float, float);
  void (*box_muller)(float*, int64_t, float, float);
  void (*below)(const uint32_t*, uint64_t*, int64_t, int64_t);
};

#define TAEDA_DEFINE_LOOPS(level, attribute)                                                   \
  namespace level {                                                                            \
  attribute void twist_loop(uint32_t* s) { twist(s); }                                         \
  attribute void temper_loop(const uint32_t* s, uint32_t* out) { temper(s, out); }             \
  attribute void floats_loop(const uint32_t* b, float* out, int64_t n, float from, float to) { \
    to_floats(b, out, n, from, to);                                                            \
  }                                                                                            \
  attribute void normal_loop(float* data, int64_t blocks, float mean, float std) {             \
    box_muller(data, blocks, mean, std);                                                       \
  }                                                                                            \
  attribute void below_loop(const uint32_t* draws, uint64_t* out, int64_t n, int64_t limit) {  \
    below(draws, out, n, limit);                                                               \
  }                                                                                            \
  constexpr Loops kLoops{twist_loop, temper_loop, floats_loop, normal_loop, below_loop};       \
  }
#define TAEDA_DEFINE_FOR_LEVEL(level, isa) TAEDA_DEFINE_LOOPS(level, __attribute__((target(isa))))
TAEDA_DEFINE_LOOPS(baseline, )
TAEDA_EACH_LEVEL(TAEDA_DEFINE_FOR_LEVEL)

const Loops& loops() {
#if defined(__x86_64__)
  static const Loops& best =
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512dq")
          ? avx512::kLoops
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::kLoops
                                                                        : baseline::kLoops;
  return best;
#else
  return baseline::kLoops;
#endif
}

}  // namespace

void mt19937_twist(uint32_t* state) { loops().twist(state); }

void mt19937_temper(const uint32_t* state, uint32_t* out) { loops().temper(state, out); }

void bits_below(const uint32_t* draws, uint64_t* out, int64_t words, int64_t limit) {
  loops().below(draws, out, words, limit);
}

void bits_to_floats(const uint32_t* bits, float* out, int64_t n, float from, float to) {
  loops().to_floats(bits, out, n, from, to);
}

void box_muller_blocks(float* data, int64_t blocks, float mean, float std) {
  loops().box_muller(data, blocks, mean, std);
}

void box_muller_blocks(double* data, int64_t blocks, double mean, double std) {
  constexpr double kTwoPi = 6.283185307179586;
  for (int64_t k = 0; k < blocks; ++k, data += 16)
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - data[j]));
      const double angle = kTwoPi * data[j + 8];
      data[j] = radius * std::cos(angle) * std + mean;
      data[j + 8] = radius * std::sin(angle) * std + mean;
    }
}

}  // namespace taeda::inline v0_2::detail
