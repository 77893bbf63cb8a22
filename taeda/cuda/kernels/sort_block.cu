// Sorting lines that a block holds: one pass over memory, and no memory beside it.
#include <cub/block/block_radix_sort.cuh>

#include "taeda/cuda/kernels/lines.cuh"

namespace taeda::inline v0_2::gpu {

namespace {

constexpr int kShortest = 256;  // below, most of a block would sort what fills it up

/// A block for each line, of at most kItems elements for each thread. What fills the block up is as
/// large as can be and stands last, where a stable sort leaves it.
template <int kItems>
__global__ void __launch_bounds__(kThreads, kItems > 4 ? 3 : 5)
    sort_block_kernel(const __grid_constant__ LineSort s, const __grid_constant__ Lines values,
                      const __grid_constant__ Lines indices, int keep) {
  using Sort = cub::BlockRadixSort<uint32_t, kThreads, kItems, uint32_t>;
  __shared__ typename Sort::TempStorage memory;
  const int n = static_cast<int>(s.n.divisor), t = threadIdx.x;
  for (int64_t line = blockIdx.x; line < s.lines(); line += gridDim.x) {
    uint32_t keys[kItems], places[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int i = t * kItems + k;
      keys[k] = static_cast<uint32_t>(i < n ? s.key(line, i) : s.rule.largest());
      places[k] = static_cast<uint32_t>(i);
    }
    __syncthreads();  // the previous line has left the memory
    Sort(memory).SortBlockedToStriped(keys, places, 0, s.rule.bits);
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
      const int place = k * kThreads + t;
      if (place < keep) s.write(line, s.element(line, places[k]), place, values, indices);
    }
  }
}

}  // namespace

bool sort_in_blocks(const Context& context, const LineSort& s, const Lines& values,
                    const Lines& indices, int64_t keep) {
  const int64_t n = s.n.divisor;
  if (s.rule.bits > 32 || n < kShortest || n > 16 * kThreads) return false;
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(s.lines(), 1 << 20));
  const int kept = static_cast<int>(keep);
  if (n <= 4 * kThreads)
    sort_block_kernel<4><<<blocks, kThreads, 0, context.stream>>>(s, values, indices, kept);
  else
    sort_block_kernel<16><<<blocks, kThreads, 0, context.stream>>>(s, values, indices, kept);
  return true;
}

}  // namespace taeda::inline v0_2::gpu
