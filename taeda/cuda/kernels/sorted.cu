// The instantiations of CUB's radix sort: keys of 32 and 64 bits with 32-bit positions.
#include <cub/device/device_radix_sort.cuh>

#include "taeda/base/error.h"
#include "taeda/cuda/kernels/sorted.cuh"

namespace taeda::inline v0_2::gpu {

namespace {

__global__ void __launch_bounds__(kThreads) positions_kernel(uint32_t* out, int64_t n) {
  for (int64_t i = thread_index(); i < n; i += thread_count()) out[i] = static_cast<uint32_t>(i);
}

}  // namespace

SortedKeys::SortedKeys(const Context& context, Device device, int64_t n, int bits, bool carried)
    : context_(context),
      device_(device),
      n_(n),
      wide_(bits > 32),
      keys_{Scratch(device, n * (wide_ ? 8 : 4)), Scratch(device, n * (wide_ ? 8 : 4))},
      positions_{Scratch(device, n * 4), Scratch(device, n * 4)} {
  TAEDA_CHECK(n < int64_t{1} << 32, "sorting on cuda: at most 2^32 - 1 elements, but there are ",
              n);
  if (n == 0 || carried) return;
  positions_kernel<<<blocks_for(n), kThreads, 0, context.stream>>>(positions(), n);
  context.launched("sort");
}

void SortedKeys::sort(int bits) {
  if (n_ <= 1 || bits == 0) return;
  wide_ ? sort_by<uint64_t>(bits) : sort_by<uint32_t>(bits);
}

template <class K>
void SortedKeys::sort_by(int bits) {
  cub::DoubleBuffer<K> k(keys_[now_].as<K>(), keys_[1 - now_].as<K>());
  cub::DoubleBuffer<uint32_t> p(positions(), positions_[1 - now_].as<uint32_t>());
  size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, k, p, n_, 0, bits, context_.stream),
        "sort");
  const Scratch memory(device_, static_cast<int64_t>(bytes));
  check(
      cub::DeviceRadixSort::SortPairs(memory.as<void>(), bytes, k, p, n_, 0, bits, context_.stream),
      "sort");
  if (k.selector == 1) now_ = 1 - now_;  // both pairs of buffers change sides together
  context_.launched("sort");
}

}  // namespace taeda::inline v0_2::gpu
