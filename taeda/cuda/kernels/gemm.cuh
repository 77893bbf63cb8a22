// The own matrix product, for what no library takes: any strides, integers, complex numbers, and
// the products that convolutions are.
//
// Note [Own product]
// A block computes a tile of 64 x 64 results, a thread 4 x 4 of them, and walks along k in steps of
// 16 through shared memory. Where there are too few tiles to fill the device, k is cut into
// segments whose results a second launch adds up. The cut follows from the sizes alone.
#pragma once

#include <algorithm>

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

struct GemmShape {
  static constexpr int kTile = 64, kDepth = 16;
  int64_t batch, m, n, k, segment;
  int segments;
  bool a_along_k, b_along_k;  // what neighbouring threads load: neighbours along k

  GemmShape(int64_t batches, int64_t rows, int64_t columns, int64_t depth, bool a_k, bool b_k)
      : batch(batches), m(rows), n(columns), k(depth), a_along_k(a_k), b_along_k(b_k) {
    constexpr int64_t kBlocks = 264, kLeast = 512;  // blocks that fill a device; k of a segment
    const int64_t wanted =
        std::min<int64_t>({kBlocks / std::max<int64_t>(1, tiles()), k / kLeast, 128});
    segment = wanted > 1 ? (k + wanted - 1) / wanted : std::max<int64_t>(k, 1);
    segment = (segment + kDepth - 1) / kDepth * kDepth;
    segments = static_cast<int>(std::max<int64_t>(1, (k + segment - 1) / segment));
  }
  __host__ __device__ int64_t row_tiles() const { return (m + kTile - 1) / kTile; }
  __host__ __device__ int64_t column_tiles() const { return (n + kTile - 1) / kTile; }
  int64_t tiles() const { return batch * row_tiles() * column_tiles(); }
  unsigned blocks() const {
    return static_cast<unsigned>(std::min<int64_t>(tiles() * segments, int64_t{1} << 30));
  }
};

/// Where a tile's element that a thread loads lies: `across` (row of a, column of b) and depth.
struct TilePlace {
  int across, depth;
  __device__ TilePlace(bool along_k, int i) {
    const int t = threadIdx.x;
    across = along_k ? t / GemmShape::kDepth + 16 * i : t % GemmShape::kTile;
    depth = along_k ? t % GemmShape::kDepth : t / GemmShape::kTile + 4 * i;
  }
};

/// Adds up a tile's results for k in [begin, end).
template <class A, class Problem>
__device__ void gemm_tile(const Problem& p, const GemmShape& s, int64_t batch, int64_t first_row,
                          int64_t first_column, int64_t begin, int64_t end, A (&acc)[4][4]) {
  constexpr int kTile = GemmShape::kTile, kDepth = GemmShape::kDepth, kWidth = kTile + 4;
  alignas(16) __shared__ char a_bytes[kDepth * kWidth * sizeof(A)];
  alignas(16) __shared__ char b_bytes[kDepth * kWidth * sizeof(A)];
  A* a_tile = reinterpret_cast<A*>(a_bytes);
  A* b_tile = reinterpret_cast<A*>(b_bytes);
  typename Problem::Row rows[4];
  typename Problem::Column columns[4];
  bool row_valid[4], column_valid[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int64_t row = first_row + TilePlace(s.a_along_k, i).across,
                  column = first_column + TilePlace(s.b_along_k, i).across;
    row_valid[i] = row < s.m;
    column_valid[i] = column < s.n;
    if (row_valid[i]) rows[i] = p.row(batch, row);
    if (column_valid[i]) columns[i] = p.column(batch, column);
  }
  const int first_m = threadIdx.x / 16 * 4, first_n = threadIdx.x % 16 * 4;
  for (int64_t k = begin; k < end; k += kDepth) {
    __syncthreads();  // the previous step's tiles have been read
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const TilePlace a(s.a_along_k, i), b(s.b_along_k, i);
      a_tile[a.depth * kWidth + a.across] =
          row_valid[i] && k + a.depth < end ? p.a(rows[i], k + a.depth) : A(0);
      b_tile[b.depth * kWidth + b.across] =
          column_valid[i] && k + b.depth < end ? p.b(columns[i], k + b.depth) : A(0);
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      A x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = a_tile[d * kWidth + first_m + i];
#pragma unroll
      for (int j = 0; j < 4; ++j) y[j] = b_tile[d * kWidth + first_n + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] = acc[i][j] + x[i] * y[j];
    }
  }
}

/// Problem: types Row and Column; row(batch, m), column(batch, n), a(Row, k), b(Column, k);
/// store(batch, m, n, A).
template <class A, class Problem>
__global__ void __launch_bounds__(kThreads)
    gemm_kernel(const __grid_constant__ Problem p, const GemmShape s, A* partial) {
  const int64_t tiles = s.batch * s.row_tiles() * s.column_tiles();
  for (int64_t t = blockIdx.x; t < tiles * s.segments; t += gridDim.x) {
    const int64_t tile = t % tiles, segment = t / tiles;
    const int64_t column = tile % s.column_tiles() * GemmShape::kTile,
                  row = tile / s.column_tiles() % s.row_tiles() * GemmShape::kTile,
                  batch = tile / (s.column_tiles() * s.row_tiles());
    const int64_t begin = segment * s.segment;
    const int64_t end = begin + s.segment < s.k ? begin + s.segment : s.k;
    A acc[4][4] = {};
    gemm_tile(p, s, batch, row, column, begin, end, acc);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int64_t m = row + threadIdx.x / 16 * 4 + i, n = column + threadIdx.x % 16 * 4 + j;
        if (m >= s.m || n >= s.n) continue;
        if (s.segments > 1)
          partial[((segment * s.batch + batch) * s.m + m) * s.n + n] = acc[i][j];
        else
          p.store(batch, m, n, acc[i][j]);
      }
  }
}

/// Adds up the segments, in their order.
template <class A, class Problem>
__global__ void __launch_bounds__(kThreads)
    gemm_finish_kernel(const __grid_constant__ Problem p, const GemmShape s, const A* partial) {
  const int64_t total = s.batch * s.m * s.n;
  for (int64_t e = thread_index(); e < total; e += thread_count()) {
    A sum = partial[e];
    for (int k = 1; k < s.segments; ++k) sum = sum + partial[k * total + e];
    p.store(e / (s.m * s.n), e / s.n % s.m, e % s.n, sum);
  }
}

template <class A, class Problem>
void run_gemm(const char* op, const Context& context, Device device, const GemmShape& s,
              const Problem& p) {
  const int64_t total = s.batch * s.m * s.n;
  if (total == 0) return;
  const Scratch partial(device,
                        s.segments > 1 ? s.segments * total * static_cast<int64_t>(sizeof(A)) : 0);
  gemm_kernel<A, Problem><<<s.blocks(), kThreads, 0, context.stream>>>(p, s, partial.as<A>());
  if (s.segments > 1)
    gemm_finish_kernel<A, Problem>
        <<<blocks_for(total), kThreads, 0, context.stream>>>(p, s, partial.as<A>());
  context.launched(op);
}

}  // namespace taeda::gpu
