// What kernels of attention on tensor cores share: four warps of a block keep 16 rows each, and
// hold scores and sums as products leave them (mma.cuh).
#pragma once

#include "taeda/cuda/kernels/attention.cuh"
#include "taeda/cuda/kernels/mma.cuh"

namespace taeda::inline v0_2::gpu {

constexpr int kWarps = 4, kMmaThreads = 32 * kWarps;
constexpr int kBlockRows = 16 * kWarps;

/// Row and column in a tile of a lane's k-th number of the n-th product.
__device__ inline int lane_row(int k) {
  return static_cast<int>(threadIdx.x) % 32 / 4 + 8 * (k / 2);
}
__device__ inline int lane_column(int n, int k) {
  return 8 * n + 2 * (static_cast<int>(threadIdx.x) % 4) + k % 2;
}

/// Combines the values of the four lanes that share rows.
template <class Combine>
__device__ float combine_lanes(float value, Combine combine) {
  value = combine(value, __shfl_xor_sync(0xffffffffu, value, 2));
  return combine(value, __shfl_xor_sync(0xffffffffu, value, 1));
}

constexpr float kLog2OfE = 1.44269504088896341f;

/// Products of a warp's tile become scores in units of log 2, so that weights are powers of 2.
/// Queries stand in rows from `query` on and keys in columns from `key` on, or the other way round.
/// kPlain: the problem has neither mask nor dropout, which takes registers that sums need.
template <bool kKeysInRows, bool kPlain = false, int kTiles>
__device__ void scale_scores(const AttentionProblem& p, int64_t b, int64_t h, int64_t query,
                             int64_t key, float (&s)[kTiles][4]) {
  constexpr int kQueries = kKeysInRows ? 8 * kTiles : 16, kKeys = kKeysInRows ? 16 : 8 * kTiles;
  const bool whole = (kPlain || !p.mask) && query + kQueries <= p.queries &&
                     key + kKeys <= p.keys && (!p.spec.causal || key + kKeys <= query + 1);
  const float unit = static_cast<float>(p.spec.scale) * kLog2OfE;
  if (whole || kPlain) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k) s[n][k] *= unit;
    if (whole) return;
  }
  // How many queries and keys there are from here on, and how far a query looks beyond itself.
  const auto left = [](int64_t count) { return static_cast<int>(count < 64 ? count : 64); };
  const int queries = left(p.queries - query), keys = left(p.keys - key),
            ahead = p.spec.causal ? left(query - key) : 64;
#pragma unroll
  for (int n = 0; n < kTiles; ++n)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = kKeysInRows ? lane_column(n, k) : lane_row(k),
                j = kKeysInRows ? lane_row(k) : lane_column(n, k);
      if constexpr (kPlain) {
        if (i >= queries || j >= keys || j > i + ahead) s[n][k] = minus_infinity<float>();
      } else {
        s[n][k] = kLog2OfE * p.score<float>(b, h, query + i, key + j, s[n][k]);
      }
    }
}

/// The running maxima, in units of log 2, and sums of a lane's two rows.
struct RunningSoftmax {
  float top[2] = {minus_infinity<float>(), minus_infinity<float>()}, sum[2] = {0, 0};

  /// Products of a tile at (row, column) become weights relative to the maxima so far; what was
  /// summed up relative to the maxima before is made smaller.
  template <bool kPlain = false, int kTiles, int kSums>
  __device__ void step(const AttentionProblem& p, Dropper& dropper, int64_t row, int64_t column,
                       int64_t b, int64_t h, float (&s)[kTiles][4], float (&sums)[kSums][4]) {
    scale_scores<false, kPlain>(p, b, h, row, column, s);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = top[half];
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int k = 2 * half; k < 2 * half + 2; ++k) now = larger(now, s[n][k]);
      now = combine_lanes(now, [](float x, float y) { return larger(x, y); });
      // Nothing seen yet: whatever is finite keeps 2^(-inf - shift) at 0.
      const float shift = now == minus_infinity<float>() ? 0 : now;
      const float rescale = ::exp2f(top[half] - shift);
      float part = 0;
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int k = 2 * half; k < 2 * half + 2; ++k) {
          s[n][k] = ::exp2f(s[n][k] - shift);
          part += s[n][k];
        }
      sum[half] = sum[half] * rescale + combine_lanes(part, [](float x, float y) { return x + y; });
      top[half] = now;
#pragma unroll
      for (int n = 0; n < kSums; ++n) {
        sums[n][2 * half] *= rescale;
        sums[n][2 * half + 1] *= rescale;
      }
    }
    if (kPlain || !dropper.active()) return;
    const float kept = static_cast<float>(1 / (1 - p.spec.dropout));
#pragma unroll
    for (int n = 0; n < kTiles; ++n)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        s[n][k] *= kept * dropper.factor(row + lane_row(k), column + lane_column(n, k));
  }
};

inline unsigned row_blocks(int64_t heads, int64_t rows) {
  const int64_t tiles = heads * ((rows + kBlockRows - 1) / kBlockRows);
  return static_cast<unsigned>(tiles < (1 << 30) ? tiles : 1 << 30);
}

}  // namespace taeda::inline v0_2::gpu
