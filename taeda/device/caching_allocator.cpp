#include "taeda/device/caching_allocator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/base/tracing.h"
#include "taeda/device/memory_limit.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

namespace taeda::inline v0_2::detail {

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kSmallRequest = kMiB;  // up to this, from segments of kSmallSegment
constexpr size_t kSmallSegment = 2 * kMiB;
constexpr size_t kLargeRequest = 10 * kMiB;  // up to this, from segments of kLargeSegment
constexpr size_t kLargeSegment = 20 * kMiB;
constexpr size_t kMaxRequest = size_t{1} << 49;
constexpr size_t kRecordsPerChunk = 64;
constexpr size_t kMallocUnit = 64;

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t segment_bytes(size_t bytes) {
  if (bytes <= kSmallRequest) return kSmallSegment;
  if (bytes <= kLargeRequest) return kLargeSegment;
  return round_up(bytes, 2 * kMiB);
}

bool is_small(size_t block_bytes) { return block_bytes <= kSmallRequest; }
bool is_small_segment(size_t bytes) { return bytes == kSmallSegment; }

}  // namespace

std::string format_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
  return text;
}

size_t default_cache_limit(DeviceType type) {
  return type == kCPU ? host_cache_limit(HostMemory::of_this_process())
                      : std::numeric_limits<size_t>::max();
}

bool caches_memory(DeviceType type) {
  const char* text = std::getenv("TAEDA_NO_MEMORY_CACHING");
  return type == kCPU || !text || std::strcmp(text, "1") != 0;
}

CachingAllocator::CachingAllocator(Backend& backend, int index, size_t cache_limit, bool caching)
    : backend_(backend),
      device_(index),
      on_host_(backend.type() == kCPU),
      caching_(caching),
      cache_limit_(caching ? cache_limit : 0),
      virtual_memory_(caching ? backend.virtual_memory() : nullptr) {}

void* CachingAllocator::allocate(size_t bytes, StreamId stream, const std::string* tag,
                                 uint64_t* stamp) {
  Lock lock(mutex_);
  if (events_ > 0 && !capture_pool_) collect_finished();
  if (bytes > kMaxRequest || (fail_in_ > 0 && --fail_in_ == 0)) [[unlikely]]
    throw_out_of_memory(bytes, lock);
  const size_t rounded = round_up(std::max<size_t>(bytes, 1), caching_ ? FreeLists::kUnit : 1);
  FreeLists& pool = pool_for(stream, rounded);
  Block* block = take(pool, rounded);
  if (!block) block = grow(pool, rounded, lock);
  try {
    split(block, rounded);
    live_.insert(block);
  } catch (...) {
    give_to_pool(block);
    throw;
  }
  block->stream = stream;
  block->requested = bytes;
  block->tag = tag;
  block->operation = nullptr;
  block->stamp = ++stamps_;
  if (stamp) *stamp = block->stamp;
  const bool small = is_small(block->bytes);
  const auto size = static_cast<int64_t>(block->bytes);
  live_blocks_.add(small, 1);
  live_bytes_.add(small, size);
  requested_bytes_.add(small, static_cast<int64_t>(bytes));
  if (on_host_) high_water_.note(static_cast<size_t>(live_bytes_.current()));
  if (waiting_blocks_.current() > 0) [[unlikely]]
    note_active_peaks();
  if (tracing::wants(tracing::kMemory)) [[unlikely]]
    tell(size);
  if (on_host_) ASAN_UNPOISON_MEMORY_REGION(block->address, bytes);
  return block->address;
}

void CachingAllocator::set_operation(void* p, uint64_t stamp, const std::string* operation) {
  Lock lock(mutex_);
  if (Block* block = live_.find(p); block && block->stamp == stamp) block->operation = operation;
}

void CachingAllocator::deallocate(void* p) {
  Lock lock(mutex_);
  Block* block = live_.remove(p);
  TAEDA_INTERNAL_ASSERT(block, "an address was freed that is not in use: ", p);
  const bool small = is_small(block->bytes);
  const auto size = static_cast<int64_t>(block->bytes);
  live_blocks_.remove(small, 1);
  live_bytes_.remove(small, size);
  requested_bytes_.remove(small, static_cast<int64_t>(block->requested));
  if (tracing::wants(tracing::kMemory)) [[unlikely]]
    tell(-size);
  if (on_host_ && !in_private_pool(*block))  // replays go on using it
    ASAN_POISON_MEMORY_REGION(block->address, block->bytes);
  if (!block->users.empty()) [[unlikely]] {
    // During a capture an event would be part of the graph.
    capture_pool_ ? deferred_.push_back(block) : wait_for_users(block);
    return;
  }
  give_to_pool(block);
  try {
    if (cached() > cache_limit_ && !capture_pool_) [[unlikely]]
      release_segments(cache_limit_, lock);
    if (on_host_) watch_idleness(lock);
  } catch (const std::bad_alloc&) {
    // No room for a list of what to give back: a free must not fail, and the next one tries again.
  }
}

void CachingAllocator::tell(int64_t bytes) const {
  tracing::memory(device(), bytes, live_bytes_.current(), stats_.reserved_bytes.all.current);
}

void CachingAllocator::record_stream(void* p, StreamId stream) {
  Lock lock(mutex_);
  Block* block = live_.find(p);
  TAEDA_CHECK(block, "record_stream: the memory was not allocated by this device's allocator");
  if (stream == block->stream) return;  // its own stream reuses it in order
  if (std::find(block->users.begin(), block->users.end(), stream) == block->users.end())
    block->users.push_back(stream);
}

/// A cached block of at least `bytes`. Of the host's, those too large for common segments serve no
/// request below half of their size: a few megabytes that live long would keep all of such a block.
Block* CachingAllocator::take(FreeLists& pool, size_t bytes, bool of_any_size) {
  Block* block = caching_ ? pool.take(bytes) : nullptr;
  if (!block) return nullptr;
  if (on_host_ && !of_any_size && block->bytes > kLargeSegment && bytes < block->bytes / 2) {
    pool.insert(block);
    return nullptr;
  }
  discarded_ -= std::exchange(block->discarded, 0);
  return block;
}

/// The block is about to change. What it lacks of memory it gets when it is next written to.
void CachingAllocator::leave_list(Block* block) {
  block->pool->remove(block);
  discarded_ -= std::exchange(block->discarded, 0);
}

FreeLists& CachingAllocator::pool_for(StreamId stream, size_t bytes) {
  const bool captured = capture_pool_ && backend_.is_capturing(device_, stream);
  StreamPools& p = pools_of(stream, captured ? capture_pool_ : 0);
  return bytes <= kSmallRequest ? p.small : p.large;
}

CachingAllocator::StreamPools& CachingAllocator::pools_of(StreamId stream,
                                                          allocator::PoolId owner) {
  for (auto& p : pools_)
    if (p->stream == stream && p->owner == owner) return *p;
  // Memory that a graph has left behind serves the next one.
  for (auto& p : pools_)
    if (owner && p->stream == stream && p->owner && !is_private(*p)) {
      p->owner = owner;
      return *p;
    }
  pools_.push_back(std::make_unique<StreamPools>(StreamPools{stream, owner, {}, {}}));
  return *pools_.back();
}

void CachingAllocator::begin_pool(allocator::PoolId pool) {
  Lock lock(mutex_);
  TAEDA_CHECK(!capture_pool_, "another graph is being captured on ",
              Device(backend_.type(), device_));
  capture_pool_ = pool;
  ++pool_uses_[pool];
}

void CachingAllocator::end_pool() {
  Lock lock(mutex_);
  capture_pool_ = 0;
  for (Block* block : deferred_) wait_for_users(block);
  deferred_.clear();
}

void CachingAllocator::release_pool(allocator::PoolId pool) {
  Lock lock(mutex_);
  if (--pool_uses_[pool] == 0) pool_uses_.erase(pool);
}

bool CachingAllocator::in_private_pool(const Block& block) const {
  if (pool_uses_.empty()) return false;
  return std::any_of(pools_.begin(), pools_.end(), [&](const auto& p) {
    return (block.pool == &p->small || block.pool == &p->large) && is_private(*p);
  });
}

void CachingAllocator::set_memory_fraction(double fraction) {
  TAEDA_CHECK_VALUE(fraction >= 0 && fraction <= 1, "Invalid fraction value: ", fraction,
                    ". Allowed range: 0~1");
  Lock lock(mutex_);
  fraction_ = fraction;
}

double CachingAllocator::memory_fraction() {
  Lock lock(mutex_);
  return fraction_;
}

/// A block from a new segment; frees what is cached and tries once more when the device is full.
Block* CachingAllocator::grow(FreeLists& pool, size_t bytes, Lock& lock) {
  if (Block* block = take_more(pool, bytes)) return block;
  if (capture_pool_) throw_out_of_memory(bytes, lock);  // nothing may be waited for
  synchronize_users(lock);
  release_segments(0, lock);
  trim_expandable_segments(lock);
  // While the lock was open, or by a block that came free, the request may have become possible.
  Block* block = take(pool, bytes, /*of_any_size=*/true);
  if (!block) block = take_more(pool, bytes);
  if (!block) throw_out_of_memory(bytes, lock);
  ++stats_.retries;
  return block;
}

/// A block of memory that the device still had: from the pool's expandable segment or, where there
/// is none or its pages are too large for what is left, from a segment of its own.
Block* CachingAllocator::take_more(FreeLists& pool, size_t bytes) {
  Block* block = extend(pool, bytes);
  return block ? block : new_segment(pool, bytes);
}

/// Whether the process may not take `more` bytes of the device.
bool CachingAllocator::exceeds_fraction(size_t more) const {
  if (fraction_ == 1) return false;
  size_t free = 0, total = 0;
  backend_.memory_info(device_, &free, &total);
  return static_cast<double>(stats_.reserved_bytes.all.current) + static_cast<double>(more) >
         fraction_ * static_cast<double>(total);
}

void* CachingAllocator::take_memory(size_t bytes) {
  if (caching_ || !on_host_) return backend_.allocate(device_, bytes);
  return std::aligned_alloc(kMallocUnit, round_up(bytes, kMallocUnit));
}

void CachingAllocator::give_memory(void* p, size_t bytes) {
  caching_ || !on_host_ ? backend_.deallocate(device_, p, bytes) : std::free(p);
}

Block* CachingAllocator::new_segment(FreeLists& pool, size_t bytes) {
  const size_t size = caching_ ? segment_bytes(bytes) : bytes;
  if (exceeds_fraction(size)) return nullptr;
  Block* block = new_record();  // first, because it may fail
  void* memory = take_memory(size);
  if (!memory) {
    recycle(block);
    return nullptr;
  }
  if (on_host_) ASAN_POISON_MEMORY_REGION(memory, size);
  stats_.segment.increase(is_small_segment(size), 1);
  stats_.reserved_bytes.increase(is_small_segment(size), static_cast<int64_t>(size));
  block->address = static_cast<char*>(memory);
  block->bytes = size;
  block->pool = &pool;
  block->stamp = stamps_;
  return block;
}

/// Cuts `block` down to `bytes` if the rest is worth keeping: any rest in a small segment, more
/// than kSmallRequest in a large one (where smaller requests never look).
void CachingAllocator::split(Block* block, size_t bytes) {
  const size_t rest = block->bytes - bytes;
  if (rest == 0 || (bytes > kSmallRequest && rest <= kSmallRequest)) return;
  block->pool->insert(cut(block, bytes));
}

/// Cuts `block` down to `bytes` and returns the rest, which is in no list.
Block* CachingAllocator::cut(Block* block, size_t bytes) {
  Block* tail = new_record();
  tail->address = block->address + bytes;
  tail->bytes = block->bytes - bytes;
  tail->pool = block->pool;
  tail->stamp = block->stamp;
  tail->mapped = block->mapped;
  tail->before = block;
  tail->after = block->after;
  if (tail->after) tail->after->before = tail;
  block->after = tail;
  block->bytes = bytes;
  return tail;
}

void CachingAllocator::give_to_pool(Block* block) {
  block = merge(block);
  block->pool->insert(block);
}

/// Joins a block with its free neighbours.
Block* CachingAllocator::merge(Block* block) {
  if (Block* after = block->after; after && after->free) {
    leave_list(after);
    block->stamp = std::max(block->stamp, after->stamp);
    block->bytes += after->bytes;
    block->after = after->after;
    if (block->after) block->after->before = block;
    recycle(after);
  }
  if (Block* before = block->before; before && before->free) {
    leave_list(before);
    before->stamp = std::max(before->stamp, block->stamp);
    before->bytes += block->bytes;
    before->after = block->after;
    if (before->after) before->after->before = before;
    recycle(block);
    return before;
  }
  return block;
}

/// The block is no longer live, but other streams may still use it: an event marks the end of what
/// each has queued so far. A device that has failed, or whose process ends, gives none: the block
/// then waits for ever, because whoever frees it must not meet the error.
void CachingAllocator::wait_for_users(Block* block) {
  waiting_blocks_.add(is_small(block->bytes), 1);
  waiting_bytes_.add(is_small(block->bytes), static_cast<int64_t>(block->bytes));
  for (StreamId stream : block->users) {
    ++block->pending;
    try {
      EventHandle event = backend_.new_event(device_, false);
      backend_.record_event(event, device_, stream);
      pending_of(stream).push_back({event, block});
      ++events_;
    } catch (const std::exception&) {
    }
  }
  block->users.clear();
}

void CachingAllocator::end_waiting(Block* block) {
  waiting_blocks_.remove(is_small(block->bytes), 1);
  waiting_bytes_.remove(is_small(block->bytes), static_cast<int64_t>(block->bytes));
  give_to_pool(block);
}

std::deque<CachingAllocator::PendingEvent>& CachingAllocator::pending_of(StreamId stream) {
  for (PendingStream& p : pending_)
    if (p.stream == stream) return p.events;
  pending_.push_back({stream, {}});
  return pending_.back().events;
}

/// A stream reaches its events in order: behind one that it has not reached there is none to ask
/// for.
void CachingAllocator::collect_finished() {
  for (auto& [stream, events] : pending_)
    while (!events.empty() && backend_.event_query(events.front().event)) {
      const PendingEvent e = events.front();
      events.pop_front();
      --events_;
      backend_.delete_event(e.event);
      if (--e.block->pending == 0) end_waiting(e.block);
    }
}

/// Waits for the pending events. The lock is open while waiting: the work waited for may itself
/// free or allocate. An error of that work is thrown on, after the books are in order.
void CachingAllocator::synchronize_users(Lock& lock) {
  std::vector<PendingEvent> events;
  for (PendingStream& p : pending_) events.insert(events.end(), p.events.begin(), p.events.end());
  pending_.clear();
  events_ = 0;
  std::exception_ptr error;
  lock.unlock();
  for (const PendingEvent& e : events) {
    try {
      backend_.event_synchronize(e.event);
    } catch (...) {
      error = std::current_exception();
    }
    backend_.delete_event(e.event);
  }
  lock.lock();
  for (const PendingEvent& e : events)
    if (--e.block->pending == 0) end_waiting(e.block);
  if (error) std::rethrow_exception(error);
}

/// Returns segments without live blocks to the device, those that were not used for longest first,
/// until at most `keep_cached` bytes are cached; none whose last allocation came after `newest`.
/// The lock is open for the returning: a device first ends the work it has queued.
void CachingAllocator::release_segments(size_t keep_cached, Lock& lock, uint64_t newest) {
  std::vector<Block*> whole;
  const auto collect = [&](Block* b) {
    if (!b->before && !b->after && b->stamp <= newest) whole.push_back(b);
  };
  for (auto& p : pools_) {
    if (is_private(*p)) continue;
    p->small.for_each(collect);
    p->large.for_each(collect);
  }
  std::sort(whole.begin(), whole.end(), [](Block* a, Block* b) { return a->stamp < b->stamp; });
  std::vector<std::pair<void*, size_t>> segments;
  segments.reserve(whole.size());  // from here on nothing fails halfway
  for (Block* block : whole) {
    if (cached() <= keep_cached) break;
    leave_list(block);
    stats_.segment.decrease(is_small_segment(block->bytes), 1);
    stats_.reserved_bytes.decrease(is_small_segment(block->bytes),
                                   static_cast<int64_t>(block->bytes));
    segments.emplace_back(block->address, block->bytes);
    recycle(block);
  }
  lock.unlock();
  for (const auto& [address, bytes] : segments) {
    if (on_host_) ASAN_UNPOISON_MEMORY_REGION(address, bytes);
    give_memory(address, bytes);
  }
  lock.lock();
}

void CachingAllocator::empty_cache() {
  Lock lock(mutex_);
  synchronize_users(lock);
  release_segments(0, lock);
  trim_expandable_segments(lock);
}

void CachingAllocator::fail_allocation(int64_t n) {
  Lock lock(mutex_);
  fail_in_ = n;
}

int64_t CachingAllocator::largest_free() const {
  size_t largest = 0;
  for (const auto& p : pools_)
    for (const FreeLists* lists : {&p->small, &p->large})
      if (const Block* b = lists->largest()) largest = std::max(largest, b->bytes);
  return static_cast<int64_t>(largest);
}

Block* CachingAllocator::new_record() {
  if (!spare_records_) {
    record_chunks_.push_back(std::make_unique<Block[]>(kRecordsPerChunk));
    for (size_t i = 0; i < kRecordsPerChunk; ++i) recycle(&record_chunks_.back()[i]);
  }
  Block* block = spare_records_;
  spare_records_ = block->next;
  block->next = nullptr;
  return block;
}

void CachingAllocator::recycle(Block* block) {
  block->before = block->after = nullptr;
  block->mapped = true;
  block->next = spare_records_;
  spare_records_ = block;
}

}  // namespace taeda::inline v0_2::detail
