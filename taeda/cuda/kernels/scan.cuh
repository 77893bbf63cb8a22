// Scans over rows, in three launches: chunks, the chunks' totals, chunks again with what came
// before. The order follows from the sizes alone.
#pragma once

#include <algorithm>

#include "taeda/cuda/kernels/common.cuh"

namespace taeda::inline v0_2::gpu {

/// Rows of n elements, cut into chunks of which each is a block's work.
struct ScanShape {
  static constexpr int64_t kLeast = 16 * kThreads;  // elements of a chunk, if there are several
  static constexpr int64_t kMostChunks = 1024;
  int64_t rows, n, chunk, chunks;

  ScanShape(int64_t row_count, int64_t length) : rows(row_count), n(length) {
    chunk = std::max(kLeast, (n + kMostChunks - 1) / kMostChunks);
    chunk = (chunk + kThreads - 1) / kThreads * kThreads;
    chunks = std::max<int64_t>(1, (n + chunk - 1) / chunk);
  }
};

/// The scan of the block's values, inclusive. `memory` is as large as the block.
template <class Acc, class Combine>
__device__ Acc scan_block(Acc* memory, Acc value, const Combine& combine) {
  const int t = threadIdx.x;
  __syncthreads();
  memory[t] = value;
  for (int d = 1; d < kThreads; d *= 2) {
    __syncthreads();
    const bool takes = t >= d;
    const Acc before = takes ? memory[t - d] : value;
    __syncthreads();
    if (takes) memory[t] = combine(before, memory[t]);
  }
  __syncthreads();
  return memory[t];
}

/// Op: type Acc; identity(); load(row, i) -> Acc; combine(earlier, later); store(row, i, Acc).
///
/// `totals` has an entry for each chunk of each row. With `only_totals` nothing is stored; without
/// it the entry of a chunk, if there are several, holds what the chunks before it give.
template <class Op>
__global__ void __launch_bounds__(kThreads)
    scan_kernel(const Op op, const ScanShape s, typename Op::Acc* totals, bool only_totals) {
  using Acc = typename Op::Acc;
  alignas(16) __shared__ char bytes[kThreads * sizeof(Acc)];
  Acc* memory = reinterpret_cast<Acc*>(bytes);
  const auto combine = [&](const Acc& a, const Acc& b) { return op.combine(a, b); };
  for (int64_t c = blockIdx.x; c < s.rows * s.chunks; c += gridDim.x) {
    const int64_t row = c / s.chunks, begin = c % s.chunks * s.chunk;
    const int64_t end = begin + s.chunk < s.n ? begin + s.chunk : s.n;
    Acc before = only_totals || s.chunks == 1 ? op.identity() : totals[c];
    for (int64_t i = begin; i < end; i += kThreads) {
      const int64_t mine = i + threadIdx.x;
      const Acc value =
          scan_block(memory, mine < end ? op.load(row, mine) : op.identity(), combine);
      if (mine < end && !only_totals) op.store(row, mine, op.combine(before, value));
      before = op.combine(before, memory[kThreads - 1]);
    }
    if (only_totals && threadIdx.x == 0) totals[c] = before;
  }
}

/// Turns each row's totals into what comes before each chunk. A block for each row.
template <class Op>
__global__ void __launch_bounds__(kThreads)
    scan_totals_kernel(const Op op, const ScanShape s, typename Op::Acc* totals) {
  using Acc = typename Op::Acc;
  alignas(16) __shared__ char bytes[kThreads * sizeof(Acc)];
  Acc* memory = reinterpret_cast<Acc*>(bytes);
  const auto combine = [&](const Acc& a, const Acc& b) { return op.combine(a, b); };
  for (int64_t row = blockIdx.x; row < s.rows; row += gridDim.x) {
    Acc before = op.identity();
    for (int64_t i = 0; i < s.chunks; i += kThreads) {
      const int64_t mine = i + threadIdx.x;
      Acc* at = totals + row * s.chunks + mine;
      scan_block(memory, mine < s.chunks ? *at : op.identity(), combine);
      if (mine < s.chunks)
        *at = threadIdx.x == 0 ? before : op.combine(before, memory[threadIdx.x - 1]);
      before = op.combine(before, memory[kThreads - 1]);
      __syncthreads();
    }
  }
}

template <class Op>
void run_scan(const char* name, const Context& context, Device device, const ScanShape& s,
              const Op& op) {
  if (s.rows == 0 || s.n == 0) return;
  using Acc = typename Op::Acc;
  const auto blocks = [](int64_t n) {
    return static_cast<unsigned>(std::min<int64_t>(n, 1 << 20));
  };
  const Scratch totals(device, s.rows * s.chunks * static_cast<int64_t>(sizeof(Acc)));
  if (s.chunks > 1) {
    scan_kernel<Op>
        <<<blocks(s.rows * s.chunks), kThreads, 0, context.stream>>>(op, s, totals.as<Acc>(), true);
    scan_totals_kernel<Op>
        <<<blocks(s.rows), kThreads, 0, context.stream>>>(op, s, totals.as<Acc>());
  }
  scan_kernel<Op>
      <<<blocks(s.rows * s.chunks), kThreads, 0, context.stream>>>(op, s, totals.as<Acc>(), false);
  context.launched(name);
}

}  // namespace taeda::gpu
