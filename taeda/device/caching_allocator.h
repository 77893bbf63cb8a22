// The policy of allocator.h for one device: segments, free lists per stream, events of other users.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "taeda/device/address_map.h"
#include "taeda/device/allocator.h"
#include "taeda/device/high_water.h"
#include "taeda/device/virtual_memory.h"

namespace taeda::inline v0_2::detail {

/// Bytes in words: "512 bytes", "1.50 MiB".
std::string format_bytes(int64_t bytes);

/// How much freed memory may stay in the cache of a device type: all of an accelerator's; of the
/// host's, which others share, host_cache_limit.
size_t default_cache_limit(DeviceType type);

/// False for accelerators with TAEDA_NO_MEMORY_CACHING=1: then every allocation is one of the
/// device's own, of just the bytes that were asked for, and is given back when it is freed.
/// Checkers such as compute-sanitizer see the bounds and the life of each tensor so; all else
/// becomes slow.
bool caches_memory(DeviceType type);

/// A quantity that every allocation changes: what follows from other numbers is left to `report`.
class Counter {
 public:
  void add(bool small, int64_t n) {
    total_[small] += n;
    current_[small] += n;
    peak_[small] = std::max(peak_[small], current_[small]);
    peak_of_all_ = std::max(peak_of_all_, current());
  }
  void remove(bool small, int64_t n) { current_[small] -= n; }
  int64_t current() const { return current_[false] + current_[true]; }

  PooledStat report() const;
  void reset_peak();
  void reset_accumulated();

 private:
  // By whether it is about small blocks.
  int64_t current_[2] = {}, total_[2] = {}, peak_[2] = {};
  int64_t peak_of_all_ = 0;
  int64_t total_at_reset_[2] = {}, freed_at_reset_[2] = {};
};

/// Addresses for all that a pool may ever hold, with memory behind some of them. Blocks without are
/// its holes; there is always one, because there are more addresses than memory.
struct ExpandableSegment {
  FreeLists* pool;
  char* base;
  size_t bytes;
  size_t page;  ///< what is mapped and unmapped as one
  size_t mapped = 0;
  std::vector<Block*> holes;  ///< by address

  bool contains(const Block* b) const { return b->address >= base && b->address < base + bytes; }
};

class CachingAllocator {
 public:
  using Time = HighWater::Time;

  /// `index` is 0 for the CPU. At most `cache_limit` freed bytes are kept; without `caching`, none
  /// (see caches_memory): the host's blocks are then malloc's.
  CachingAllocator(Backend& backend, int index, size_t cache_limit, bool caching = true);

  /// `stamp`, if given, is set to the number of the allocation.
  void* allocate(size_t bytes, StreamId stream, const std::string* tag, uint64_t* stamp = nullptr);
  /// Names the operation that made an allocation, if its block is still live.
  void set_operation(void* p, uint64_t stamp, const std::string* operation);
  void deallocate(void* p);
  void record_stream(void* p, StreamId stream);
  void empty_cache();
  /// What the host's allocator does from time to time: gives back what recent steps did not use.
  /// False when so little is left that nobody needs to come again: Note [Idle programs].
  bool trim(Time now);
  /// `start` is called, with the lock held, when there is something that `trim` may have to give
  /// back; it returns whether somebody will call `trim` until that returns false.
  void set_keeper(bool (*start)(CachingAllocator&));
  /// Tells the time to the host's allocator; for tests.
  void set_clock(Time (*clock)()) { clock_ = clock; }
  Time now() const { return clock_(); }
  // Around fork(): the child finds the books in order, and nobody who trims.
  void before_fork() { mutex_.lock(); }
  void after_fork(bool in_child) {
    if (in_child) keeper_runs_ = false;
    mutex_.unlock();
  }
  void fail_allocation(int64_t n);
  MemoryStats stats();
  void reset_peak();
  void reset_accumulated();
  std::vector<BlockInfo> live_blocks(size_t limit);
  std::string summary(bool abbreviated);
  std::vector<MemorySegment> snapshot();
  void begin_pool(allocator::PoolId pool);
  void end_pool();
  void release_pool(allocator::PoolId pool);
  void set_memory_fraction(double fraction);
  double memory_fraction();

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct StreamPools {
    StreamId stream;
    allocator::PoolId owner;  ///< 0 for everybody's
    FreeLists small, large;
  };
  struct PendingEvent {
    EventHandle event;
    Block* block;
  };
  /// What one stream must reach, in its order.
  struct PendingStream {
    StreamId stream;
    std::deque<PendingEvent> events;
  };
  /// A block that is on its way back to the device.
  struct FreePages {
    ExpandableSegment* segment;
    Block* block;
  };

  FreeLists& pool_for(StreamId stream, size_t bytes);
  StreamPools& pools_of(StreamId stream, allocator::PoolId owner);
  bool in_private_pool(const Block& block) const;
  bool is_private(const StreamPools& p) const { return p.owner && pool_uses_.contains(p.owner); }
  Block* take(FreeLists& pool, size_t bytes, bool of_any_size = false);
  void leave_list(Block* block);
  Block* grow(FreeLists& pool, size_t bytes, Lock& lock);
  Block* new_segment(FreeLists& pool, size_t bytes);
  void split(Block* block, size_t bytes);
  void give_to_pool(Block* block);
  Block* merge(Block* block);
  void wait_for_users(Block* block);
  void end_waiting(Block* block);
  std::deque<PendingEvent>& pending_of(StreamId stream);
  void collect_finished();
  void synchronize_users(Lock& lock);
  void release_segments(size_t keep_cached, Lock& lock, uint64_t newest = ~uint64_t{0});
  void discard_pages(size_t keep_cached, uint64_t newest);
  void end_periods(Time now, Lock& lock);
  void watch_idleness(Lock& lock);
  void* take_memory(size_t bytes);
  void give_memory(void* p, size_t bytes);
  Block* take_more(FreeLists& pool, size_t bytes);
  bool exceeds_fraction(size_t more) const;
  Block* cut(Block* block, size_t bytes);
  // expandable_segments.cpp
  ExpandableSegment* expandable_of(FreeLists& pool, bool small);
  Block* extend(FreeLists& pool, size_t bytes);
  bool map_pages(const ExpandableSegment& segment, char* begin, size_t bytes);
  Block* cut_pages(const ExpandableSegment& segment, Block* block);
  void make_hole(ExpandableSegment& segment, Block* block);
  std::vector<FreePages> take_free_pages();
  void trim_expandable_segments(Lock& lock);
  bool is_expandable(const Block* block) const;
  std::vector<BlockInfo> largest_live(size_t limit) const;
  /// The first block of every segment, by address.
  std::vector<const Block*> segment_heads() const;
  Device device() const { return on_host_ ? Device(kCPU) : Device(backend_.type(), device_); }
  void tell(int64_t bytes) const;
  MemoryStats counted() const;
  void note_active_peaks();
  [[noreturn]] void throw_out_of_memory(size_t bytes, Lock& lock);
  int64_t largest_free() const;
  size_t cached() const {
    return static_cast<size_t>(stats_.reserved_bytes.all.current - live_bytes_.current()) -
           discarded_;
  }
  Block* new_record();
  void recycle(Block* block);

  Backend& backend_;
  const int device_;
  const bool on_host_;
  const bool caching_;
  const size_t cache_limit_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<StreamPools>> pools_;
  VirtualMemory* const virtual_memory_;  ///< nullptr where the device has none
  std::vector<std::unique_ptr<ExpandableSegment>> expandable_;  ///< one of a pool at most
  AddressMap live_;
  std::vector<PendingStream> pending_;
  size_t events_ = 0;  ///< of all streams
  Counter live_bytes_, requested_bytes_, live_blocks_;
  Counter waiting_bytes_, waiting_blocks_;  ///< freed, but other streams still use them
  MemoryStats stats_;  ///< of segments, errors, and the peaks of what is active while blocks wait
  uint64_t stamps_ = 0;
  allocator::PoolId capture_pool_ = 0;                    ///< while a capture is under way
  std::unordered_map<allocator::PoolId, int> pool_uses_;  ///< by graphs
  std::vector<Block*> deferred_;  ///< freed during the capture, and used by other streams
  double fraction_ = 1;
  // Of the host alone: see trim.
  HighWater high_water_;
  size_t discarded_ = 0;       ///< bytes of free blocks that have no memory behind them
  uint64_t period_stamp_ = 0;  ///< the last allocation before the period began
  uint32_t frees_ = 0;
  bool keeper_runs_ = false;
  bool (*keeper_)(CachingAllocator&) = nullptr;
  Time (*clock_)() = &std::chrono::steady_clock::now;
  int64_t fail_in_ = 0;  ///< allocations until the one that is to fail; 0 for none
  std::vector<std::unique_ptr<Block[]>> record_chunks_;
  Block* spare_records_ = nullptr;
};

}  // namespace taeda::inline v0_2::detail
