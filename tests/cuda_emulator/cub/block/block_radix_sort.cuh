// CUB's radix sort of a block on the host: its first thread sorts for all.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cub {
template <class K, int kThreads, int kItems, class V>
class BlockRadixSort {
 public:
  struct TempStorage {
    struct Item {
      K key;
      V value;
    };
    Item items[kThreads * kItems];
  };
  explicit BlockRadixSort(TempStorage& storage) : items_(storage.items) {}

  /// Thread t gives the items from t * kItems on, and gets each kThreads-th from t on.
  void SortBlockedToStriped(K (&keys)[kItems], V (&values)[kItems], int begin, int end) {
    const int t = threadIdx.x;
    for (int k = 0; k < kItems; ++k) items_[t * kItems + k] = {keys[k], values[k]};
    __syncthreads();
    if (t == 0) {
      const uint64_t mask = (~uint64_t{0} >> (64 - end)) >> begin << begin;
      std::stable_sort(items_, items_ + kThreads * kItems, [&](const auto& a, const auto& b) {
        return (a.key & mask) < (b.key & mask);
      });
    }
    __syncthreads();
    for (int k = 0; k < kItems; ++k) {
      keys[k] = items_[k * kThreads + t].key;
      values[k] = items_[k * kThreads + t].value;
    }
  }

 private:
  typename TempStorage::Item* items_;
};
}  // namespace cub
