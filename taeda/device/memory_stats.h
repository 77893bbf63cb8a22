// Figures about the memory of one device, and its blocks one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "taeda/base/device.h"

namespace taeda::inline v0_2 {

/// A quantity over time. `allocated` and `freed` are what was ever added and taken away.
/// In bytes or in blocks, as the field says that holds it.
struct MemoryStat {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  /// Notes `n` bytes or blocks more.
  void increase(int64_t n) {
    current += n;
    allocated += n;
    peak = std::max(peak, current);
  }
  /// Notes `n` less.
  void decrease(int64_t n) {
    current -= n;
    freed += n;
  }
};

/// A quantity for all memory, and for segments of small and of large blocks apart.
/// In bytes or in blocks, as its name says.
struct PooledStat {
  MemoryStat all, small, large;

  /// Notes it in the whole and in the pool that it belongs to.
  void increase(bool is_small, int64_t n) {
    all.increase(n);
    (is_small ? small : large).increase(n);
  }
  void decrease(bool is_small, int64_t n) {
    all.decrease(n);
    (is_small ? small : large).decrease(n);
  }
};

/// Bytes, for one device. `peak_*` since the last reset.
struct MemoryStats {
  int64_t allocated = 0;  ///< in live blocks
  int64_t reserved = 0;   ///< taken from the device
  int64_t peak_allocated = 0;
  int64_t peak_reserved = 0;
  int64_t largest_free_block = 0;    ///< of the cached ones
  int64_t allocations = 0;           ///< calls so far
  int64_t segment_allocations = 0;   ///< calls that reached the device
  int64_t retries = 0;               ///< allocations that succeeded after emptying the cache
  int64_t ooms = 0;                  ///< OutOfMemoryErrors thrown
  int64_t inactive_split_bytes = 0;  ///< free, but in a segment with blocks that are in use
  int64_t inactive_splits = 0;

  PooledStat allocated_bytes;  ///< in live blocks, rounded up to 512
  PooledStat requested_bytes;  ///< in live blocks, as asked for
  PooledStat active_bytes;     ///< in live blocks, and in freed ones that a stream still uses
  PooledStat reserved_bytes;
  PooledStat allocation;  ///< live blocks
  PooledStat active;      ///< active blocks
  PooledStat segment;

  /// Under PyTorch's names: "allocated_bytes.all.peak", "segment.small_pool.current", "num_ooms".
  std::map<std::string, int64_t> to_map() const;
};

/// A live block, for reports.
struct BlockInfo {
  void* address;
  int64_t bytes;
  std::string tag;  ///< what it belongs to: label or module path, else operation; may be empty
};

/// A piece of a segment.
struct MemoryBlock {
  const void* address = nullptr;
  int64_t bytes = 0;
  int64_t requested = 0;  ///< 0 unless allocated
  /// "active_allocated", "active_pending_free" (a stream still uses it) or "inactive".
  const char* state = "inactive";
  std::string module;     ///< label or module path under which it was allocated, where known
  std::string operation;  ///< that allocated it, where known
};

/// Memory that was taken from the device in one call, or a stretch of an expandable segment with
/// memory behind it.
/// Sizes are bytes.
struct MemorySegment {
  Device device;
  const void* address = nullptr;
  int64_t bytes = 0;
  int64_t allocated = 0;  ///< in live blocks
  int64_t active = 0;
  int64_t stream = 0;
  bool small = false;  ///< of the pool for blocks of at most 1 MiB
  bool expandable = false;
  std::vector<MemoryBlock> blocks;  ///< by address, without gaps
};

/// JSON: a list of segments, with PyTorch's keys, each with its blocks.
std::string to_json(const std::vector<MemorySegment>& snapshot);

namespace memory {

/// While on, every block knows what it was allocated for: the path of the module whose call it was
/// in, and the operation - the innermost running one, otherwise the next operation or copy of the
/// thread, which is the one that allocated it as its result. Snapshots, summaries and
/// OutOfMemoryErrors then name the blocks. Costs about a microsecond for each operation. On from
/// the start under TAEDA_MEMORY_HISTORY=1.
void record_history(bool on = true);
bool records_history();

}  // namespace memory

}  // namespace taeda
