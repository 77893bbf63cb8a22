// Philox 4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011), and the numbers accelerators make of it. Element i of a kernel's output depends on
// nothing but the seed, the kernel's offset and i: not on threads, blocks or the device.
#pragma once

#include <cmath>
#include <cstdint>

#include "taeda/base/macros.h"

namespace taeda::inline v0_2::philox {

/// Four independent 32-bit words.
struct Words {
  uint32_t w[4];
};

namespace detail {
TAEDA_HD TAEDA_ALWAYS_INLINE void round(uint32_t* c, uint32_t k0, uint32_t k1) {
  const uint64_t a = uint64_t{0xd2511f53u} * c[0], b = uint64_t{0xcd9e8d57u} * c[2];
  const uint32_t c1 = c[1], c3 = c[3];
  c[0] = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
  c[1] = static_cast<uint32_t>(b);
  c[2] = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
  c[3] = static_cast<uint32_t>(a);
}
}  // namespace detail

/// The words at 128-bit counter (low, high) under key `seed`.
TAEDA_HD TAEDA_ALWAYS_INLINE Words words(uint64_t seed, uint64_t high, uint64_t low) {
  uint32_t c[4] = {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                   static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int i = 0; i < 10; ++i) {
    detail::round(c, k0, k1);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

/// The 32 bits of element `i`: four elements share a counter.
TAEDA_HD TAEDA_ALWAYS_INLINE uint32_t bits32(uint64_t seed, uint64_t offset, uint64_t i) {
  return words(seed, offset, i / 4).w[i % 4];
}

/// The 64 bits of element `i`: two elements share a counter.
TAEDA_HD TAEDA_ALWAYS_INLINE uint64_t bits64(uint64_t seed, uint64_t offset, uint64_t i) {
  const Words x = words(seed, offset, i / 2);
  return uint64_t{x.w[2 * (i % 2) + 1]} << 32 | x.w[2 * (i % 2)];
}

/// Words below this are kept by a dropout that keeps with probability `keep`.
inline uint32_t kept_below(double keep) {
  const auto bound = static_cast<uint64_t>(keep * 0x1p32);
  return static_cast<uint32_t>(bound > UINT32_MAX ? UINT32_MAX : bound);
}

/// [0, 1) of 24 bits.
TAEDA_HD TAEDA_ALWAYS_INLINE float to_uniform(uint32_t bits) {
  return static_cast<float>(static_cast<int32_t>(bits >> 8)) * 0x1p-24f;  // signed: vectorises
}

/// [0, 1) of 53 bits.
TAEDA_HD TAEDA_ALWAYS_INLINE double to_uniform(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Two independent standard normal numbers from two words (Box and Muller 1958).
TAEDA_HD TAEDA_ALWAYS_INLINE void to_normal(uint32_t a, uint32_t b, float* first, float* second) {
  const float radius = ::sqrtf(-2.0f * ::logf(1.0f - to_uniform(a)));
  const float angle = 6.2831853071795865f * to_uniform(b);
  *first = radius * ::cosf(angle);
  *second = radius * ::sinf(angle);
}

/// The same in double.
TAEDA_HD TAEDA_ALWAYS_INLINE void to_normal(uint64_t a, uint64_t b, double* first, double* second) {
  const double radius = ::sqrt(-2.0 * ::log(1.0 - to_uniform(a)));
  const double angle = 6.2831853071795865 * to_uniform(b);
  *first = radius * ::cos(angle);
  *second = radius * ::sin(angle);
}

}  // namespace taeda::philox
