// The transforms of Winograd's F(4 x 4, 3 x 3), a register of channels at a time:
// conv_winograd.cpp, Note [Winograd].
#pragma once

#include <cstdint>

#include "taeda/cpu/kernels/simd.h"

namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE::winograd {

using V = Vec<float>;

constexpr int64_t kOut = 4, kIn = 6;  // outputs and inputs of a tile along a side

// The points: 0, kA, -kA, kB, -kB, infinity.
constexpr float kA = 0.625f, kA2 = kA * kA, kA3 = kA2 * kA;
constexpr float kB = 1.5f, kB2 = kB * kB, kB3 = kB2 * kB;

/// B' of six inputs.
TAEDA_ALWAYS_INLINE void values_of_inputs(const V (&d)[kIn], V (&v)[kIn]) {
  const V even_a = d[4] - kB2 * d[2], odd_a = kA * (d[3] - kB2 * d[1]);
  const V even_b = d[4] - kA2 * d[2], odd_b = kB * (d[3] - kA2 * d[1]);
  v[0] = kA2 * kB2 * d[0] - (kA2 + kB2) * d[2] + d[4];
  v[1] = even_a + odd_a;
  v[2] = even_a - odd_a;
  v[3] = even_b + odd_b;
  v[4] = even_b - odd_b;
  v[5] = kA2 * kB2 * d[1] - (kA2 + kB2) * d[3] + d[5];
}

/// A' of six sums.
TAEDA_ALWAYS_INLINE void outputs_of_sums(const V (&m)[kIn], V (&o)[kOut]) {
  const V even_a = m[1] + m[2], odd_a = m[1] - m[2];
  const V even_b = m[3] + m[4], odd_b = m[3] - m[4];
  o[0] = m[0] + even_a + even_b;
  o[1] = kA * odd_a + kB * odd_b;
  o[2] = kA2 * even_a + kB2 * even_b;
  o[3] = kA3 * odd_a + kB3 * odd_b + m[5];
}

/// A of four gradients.
TAEDA_ALWAYS_INLINE void values_of_gradients(const V (&g)[kOut], V (&v)[kIn]) {
  const V even_a = g[0] + kA2 * g[2], odd_a = kA * g[1] + kA3 * g[3];
  const V even_b = g[0] + kB2 * g[2], odd_b = kB * g[1] + kB3 * g[3];
  v[0] = g[0];
  v[1] = even_a + odd_a;
  v[2] = even_a - odd_a;
  v[3] = even_b + odd_b;
  v[4] = even_b - odd_b;
  v[5] = g[3];
}

// Products of a point's differences to the other points.
constexpr float kAt0 = 1 / (kA2 * kB2);
constexpr float kAtA = 1 / (2 * kA2 * (kA2 - kB2)), kAtB = 1 / (2 * kB2 * (kB2 - kA2));

/// G of three taps.
TAEDA_ALWAYS_INLINE void values_of_taps(const V (&w)[3], V (&u)[kIn]) {
  const V even_a = kAtA * (w[0] + kA2 * w[2]), odd_a = kAtA * kA * w[1];
  const V even_b = kAtB * (w[0] + kB2 * w[2]), odd_b = kAtB * kB * w[1];
  u[0] = kAt0 * w[0];
  u[1] = even_a + odd_a;
  u[2] = even_a - odd_a;
  u[3] = even_b + odd_b;
  u[4] = even_b - odd_b;
  u[5] = w[2];
}

/// G' of six sums.
TAEDA_ALWAYS_INLINE void taps_of_sums(const V (&u)[kIn], V (&w)[3]) {
  const V even_a = kAtA * (u[1] + u[2]), even_b = kAtB * (u[3] + u[4]);
  w[0] = kAt0 * u[0] + even_a + even_b;
  w[1] = kAtA * kA * (u[1] - u[2]) + kAtB * kB * (u[3] - u[4]);
  w[2] = kA2 * even_a + kB2 * even_b + u[5];
}

/// A transform of both dimensions: [From][From] at `in` to [To][To] for `out`.
template <int64_t From, int64_t To, class Transform, class In, class Out>
TAEDA_ALWAYS_INLINE void transform_square(Transform&& transform, In&& in, Out&& out) {
  V half[From][To];
#pragma GCC unroll 6
  for (int64_t i = 0; i < From; ++i) {
    V line[From];
#pragma GCC unroll 6
    for (int64_t j = 0; j < From; ++j) line[j] = in(i, j);
    transform(line, half[i]);
  }
#pragma GCC unroll 6
  for (int64_t j = 0; j < To; ++j) {
    V line[From], result[To];
#pragma GCC unroll 6
    for (int64_t i = 0; i < From; ++i) line[i] = half[i][j];
    transform(line, result);
#pragma GCC unroll 6
    for (int64_t i = 0; i < To; ++i) out(i, j, result[i]);
  }
}

}  // namespace taeda::inline v0_2::cpu::TAEDA_CPU_NAMESPACE::winograd
