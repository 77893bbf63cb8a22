// CUB's radix sort on the host.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "device_memory.h"
#include "traffic.h"

namespace cub {
template <class T>
struct DoubleBuffer {
  T* buffers[2];
  int selector = 0;
  DoubleBuffer(T* a, T* b) : buffers{a, b} {}
  T* Current() const { return buffers[selector]; }
  T* Alternate() const { return buffers[1 - selector]; }
};
struct DeviceRadixSort {
  template <class K, class V>
  static cudaError_t SortPairs(void* memory, size_t& bytes, DoubleBuffer<K>& keys,
                               DoubleBuffer<V>& values, int64_t n, int begin, int end,
                               cudaStream_t) {
    bytes = 64;
    if (!memory) return cudaSuccess;
    auto run = [&] {
      std::vector<int64_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      const int bits = end - begin;
      const K mask =
          bits >= 8 * static_cast<int>(sizeof(K)) ? ~K{0} : ((K{1} << bits) - 1) << begin;
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return (keys.Current()[a] & mask) < (keys.Current()[b] & mask);
      });
      for (int64_t i = 0; i < n; ++i) {
        keys.Alternate()[i] = keys.Current()[order[i]];
        values.Alternate()[i] = values.Current()[order[i]];
      }
    };
    // Keys are read for all histograms at once, then each 8 bits are a pass over keys and values.
    const int64_t passes = (end - begin + 7) / 8, keys_only = n * sizeof(K);
    const int64_t pass = n * (sizeof(K) + sizeof(V));
    emulator::add_traffic("cub::DeviceRadixSort",
                          {1 + passes, keys_only + passes * pass, passes * pass});
    emulator::with_device_memory([](void* p) { (*static_cast<decltype(run)*>(p))(); }, &run);
    keys.selector ^= 1;
    values.selector ^= 1;
    return cudaSuccess;
  }
};
}  // namespace cub
