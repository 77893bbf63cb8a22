// Free blocks of one pool, by size: best fit in constant time.
//
// A class holds the sizes between two neighbouring steps (exact multiples of 512 bytes up to 16
// KiB, then 32 steps per power of two), its list is sorted by size, and a bitmap says which classes
// have blocks. Of equal blocks the one freed last is taken first: its memory is still in the cache.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "taeda/device/backend.h"

namespace taeda::inline v0_2::detail {

class FreeLists;

/// A piece of a segment. Blocks of a segment form a list by address; they are never empty.
struct Block {
  char* address = nullptr;
  size_t bytes = 0;
  size_t requested = 0;
  Block* before = nullptr;  ///< neighbours in the segment
  Block* after = nullptr;
  Block* next = nullptr;  ///< links of the free list, or of the spare records
  Block* previous = nullptr;
  FreeLists* pool = nullptr;
  StreamId stream = 0;
  int pending = 0;  ///< events to wait for before it can be used again
  bool free = false;
  bool mapped = true;  ///< false: addresses of an expandable segment without memory behind them
  const std::string* tag = nullptr;
  const std::string* operation = nullptr;  ///< that allocated it, if the history is recorded
  uint64_t stamp = 0;                      ///< which allocation it is, or was the last one of it
  size_t discarded = 0;                    ///< of a free block: bytes without memory behind them
  std::vector<StreamId> users;             ///< other streams that use it (record_stream)
};

class FreeLists {
 public:
  static constexpr size_t kUnit = 512;

  /// The smallest block of at least `bytes`, removed; nullptr if there is none.
  Block* take(size_t bytes);
  void insert(Block* block);
  void remove(Block* block);
  /// The largest block, or nullptr.
  Block* largest() const;
  /// Calls `f(Block*)` for every block; `f` must not change the lists.
  template <class F>
  void for_each(F&& f) const {
    for (Block* head : head_)
      for (Block* b = head; b; b = b->next) f(b);
  }

 private:
  static constexpr size_t kSteps = 32;
  static constexpr size_t kClasses = 37 * kSteps;  // up to 2^50 bytes
  static constexpr size_t kWords = (kClasses + 63) / 64;

  static size_t class_of(size_t bytes) {
    const size_t units = bytes / kUnit;
    if (units < kSteps) return units;
    const size_t exponent = static_cast<size_t>(std::bit_width(units)) - 6;  // of the step
    return (exponent + 1) * kSteps + (units >> exponent) - kSteps;
  }
  /// The first class from `c` on that has blocks; kClasses if none.
  size_t first_from(size_t c) const;

  std::array<uint64_t, kWords> filled_{};
  std::array<Block*, kClasses> head_{};
};

}  // namespace taeda::detail
