#include "taeda/device/caching_allocator.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "taeda/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

namespace taeda::detail {

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kSmallRequest = kMiB;  // up to this, from segments of kSmallSegment
constexpr size_t kSmallSegment = 2 * kMiB;
constexpr size_t kLargeRequest = 10 * kMiB;  // up to this, from segments of kLargeSegment
constexpr size_t kLargeSegment = 20 * kMiB;
constexpr size_t kMaxRequest = size_t{1} << 49;
constexpr size_t kRecordsPerChunk = 64;
constexpr size_t kReportedBlocks = 10;

constexpr size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t segment_bytes(size_t bytes) {
  if (bytes <= kSmallRequest) return kSmallSegment;
  if (bytes <= kLargeRequest) return kLargeSegment;
  return round_up(bytes, 2 * kMiB);
}

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

// An accelerator keeps all of it; the host, which others share, TAEDA_CPU_CACHE_BYTES or half of
// its RAM.
size_t default_cache_limit(DeviceType type) {
  if (type != kCPU) return std::numeric_limits<size_t>::max();
  if (const char* text = std::getenv("TAEDA_CPU_CACHE_BYTES"))
    return std::strtoull(text, nullptr, 10);
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) / 2 *
         static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

CachingAllocator::CachingAllocator(Backend& backend, int index, size_t cache_limit)
    : backend_(backend),
      device_(index),
      on_host_(backend.type() == kCPU),
      cache_limit_(cache_limit) {}

void* CachingAllocator::allocate(size_t bytes, StreamId stream, const std::string* tag) {
  Lock lock(mutex_);
  if (!pending_.empty() && !capture_pool_) collect_finished();
  if (bytes > kMaxRequest || (fail_in_ > 0 && --fail_in_ == 0)) [[unlikely]]
    throw_out_of_memory(bytes, lock);
  const size_t rounded = round_up(std::max<size_t>(bytes, 1), FreeLists::kUnit);
  FreeLists& pool = pool_for(stream, rounded);
  Block* block = pool.take(rounded);
  if (!block) block = grow(pool, rounded, lock);
  split(block, rounded);
  block->stream = stream;
  block->requested = bytes;
  block->tag = tag;
  live_.insert(block);
  ++stats_.allocations;
  stats_.allocated += static_cast<int64_t>(block->bytes);
  stats_.peak_allocated = std::max(stats_.peak_allocated, stats_.allocated);
  if (on_host_) ASAN_UNPOISON_MEMORY_REGION(block->address, bytes);
  return block->address;
}

void CachingAllocator::deallocate(void* p) {
  Lock lock(mutex_);
  Block* block = live_.remove(p);
  TAEDA_INTERNAL_ASSERT(block, "an address was freed that is not in use: ", p);
  stats_.allocated -= static_cast<int64_t>(block->bytes);
  if (on_host_) ASAN_POISON_MEMORY_REGION(block->address, block->bytes);
  if (!block->users.empty()) [[unlikely]] {
    // During a capture an event would be part of the graph.
    capture_pool_ ? deferred_.push_back(block) : wait_for_users(block);
    return;
  }
  give_to_pool(block);
  if (cached() > cache_limit_) [[unlikely]]
    release_segments(cache_limit_, lock);
}

void CachingAllocator::record_stream(void* p, StreamId stream) {
  Lock lock(mutex_);
  Block* block = live_.find(p);
  TAEDA_CHECK(block, "record_stream: the memory was not allocated by this device's allocator");
  if (stream == block->stream) return;  // its own stream reuses it in order
  if (std::find(block->users.begin(), block->users.end(), stream) == block->users.end())
    block->users.push_back(stream);
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
  pools_.push_back(std::make_unique<StreamPools>(stream, owner));
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
  if (Block* block = new_segment(pool, bytes)) return block;
  if (capture_pool_) throw_out_of_memory(bytes, lock);  // nothing may be waited for
  synchronize_users(lock);
  release_segments(0, lock);
  // While the lock was open, or by a block that came free, the request may have become possible.
  Block* block = pool.take(bytes);
  if (!block) block = new_segment(pool, bytes);
  if (!block) throw_out_of_memory(bytes, lock);
  ++stats_.retries;
  return block;
}

Block* CachingAllocator::new_segment(FreeLists& pool, size_t bytes) {
  const size_t size = segment_bytes(bytes);
  if (fraction_ < 1) {
    size_t free = 0, total = 0;
    backend_.memory_info(device_, &free, &total);
    if (static_cast<double>(stats_.reserved) + static_cast<double>(size) >
        fraction_ * static_cast<double>(total))
      return nullptr;
  }
  void* memory = backend_.allocate(device_, size);
  if (!memory) return nullptr;
  if (on_host_) ASAN_POISON_MEMORY_REGION(memory, size);
  ++stats_.segment_allocations;
  stats_.reserved += static_cast<int64_t>(size);
  stats_.peak_reserved = std::max(stats_.peak_reserved, stats_.reserved);
  Block* block = new_record();
  block->address = static_cast<char*>(memory);
  block->bytes = size;
  block->pool = &pool;
  return block;
}

/// Cuts `block` down to `bytes` if the rest is worth keeping: any rest in a small segment, more
/// than kSmallRequest in a large one (where smaller requests never look).
void CachingAllocator::split(Block* block, size_t bytes) {
  const size_t rest = block->bytes - bytes;
  if (rest == 0 || (bytes > kSmallRequest && rest <= kSmallRequest)) return;
  Block* tail = new_record();
  tail->address = block->address + bytes;
  tail->bytes = rest;
  tail->pool = block->pool;
  tail->before = block;
  tail->after = block->after;
  if (tail->after) tail->after->before = tail;
  block->after = tail;
  block->bytes = bytes;
  tail->pool->insert(tail);
}

void CachingAllocator::give_to_pool(Block* block) {
  block = merge(block);
  block->pool->insert(block);
}

/// Joins a block with its free neighbours.
Block* CachingAllocator::merge(Block* block) {
  if (Block* after = block->after; after && after->free) {
    after->pool->remove(after);
    block->bytes += after->bytes;
    block->after = after->after;
    if (block->after) block->after->before = block;
    recycle(after);
  }
  if (Block* before = block->before; before && before->free) {
    before->pool->remove(before);
    before->bytes += block->bytes;
    before->after = block->after;
    if (before->after) before->after->before = before;
    recycle(block);
    return before;
  }
  return block;
}

/// The block is no longer live, but other streams may still use it: an event marks the end of what
/// each has queued so far.
void CachingAllocator::wait_for_users(Block* block) {
  for (StreamId stream : block->users) {
    EventHandle event = backend_.new_event(device_, false);
    backend_.record_event(event, device_, stream);
    pending_.push_back({stream, event, block});
    ++block->pending;
  }
  block->users.clear();
}

void CachingAllocator::collect_finished() {
  for (size_t i = 0; i < pending_.size();) {
    if (!backend_.event_query(pending_[i].event)) {
      ++i;
      continue;
    }
    backend_.delete_event(pending_[i].event);
    Block* block = pending_[i].block;
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    if (--block->pending == 0) give_to_pool(block);
  }
}

/// Waits for the pending events. The lock is open while waiting: the work waited for may itself
/// free or allocate. An error of that work is thrown on, after the books are in order.
void CachingAllocator::synchronize_users(Lock& lock) {
  std::deque<PendingEvent> events;
  events.swap(pending_);
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
    if (--e.block->pending == 0) give_to_pool(e.block);
  if (error) std::rethrow_exception(error);
}

/// Returns segments without live blocks to the device, largest first, until at most `keep_cached`
/// bytes are cached. The lock is open for the returning: a device first ends the work it has
/// queued.
void CachingAllocator::release_segments(size_t keep_cached, Lock& lock) {
  std::vector<Block*> whole;
  const auto collect = [&](Block* b) {
    if (!b->before && !b->after) whole.push_back(b);
  };
  for (auto& p : pools_) {
    if (is_private(*p)) continue;
    p->small.for_each(collect);
    p->large.for_each(collect);
  }
  std::sort(whole.begin(), whole.end(), [](Block* a, Block* b) { return a->bytes > b->bytes; });
  std::vector<std::pair<void*, size_t>> segments;
  for (Block* block : whole) {
    if (cached() <= keep_cached) break;
    block->pool->remove(block);
    stats_.reserved -= static_cast<int64_t>(block->bytes);
    segments.emplace_back(block->address, block->bytes);
    recycle(block);
  }
  lock.unlock();
  for (const auto& [address, bytes] : segments) {
    if (on_host_) ASAN_UNPOISON_MEMORY_REGION(address, bytes);
    backend_.deallocate(device_, address, bytes);
  }
  lock.lock();
}

void CachingAllocator::empty_cache() {
  Lock lock(mutex_);
  synchronize_users(lock);
  release_segments(0, lock);
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

MemoryStats CachingAllocator::stats() {
  Lock lock(mutex_);
  MemoryStats s = stats_;
  s.largest_free_block = largest_free();
  return s;
}

void CachingAllocator::reset_peak() {
  Lock lock(mutex_);
  stats_.peak_allocated = stats_.allocated;
  stats_.peak_reserved = stats_.reserved;
}

std::vector<BlockInfo> CachingAllocator::live_blocks(size_t limit) {
  Lock lock(mutex_);
  return largest_live(limit);
}

std::vector<BlockInfo> CachingAllocator::largest_live(size_t limit) const {
  std::vector<const Block*> all;
  live_.for_each([&](const Block* b) { all.push_back(b); });
  const size_t n = std::min(limit, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), all.end(),
                    [](const Block* a, const Block* b) {
                      return a->bytes != b->bytes ? a->bytes > b->bytes : a->address < b->address;
                    });
  std::vector<BlockInfo> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back(
        {all[i]->address, static_cast<int64_t>(all[i]->bytes), all[i]->tag ? *all[i]->tag : ""});
  return out;
}

void CachingAllocator::throw_out_of_memory(size_t bytes, Lock& lock) {
  size_t free = 0, total = 0;
  backend_.memory_info(device_, &free, &total);
  const DeviceType type = backend_.type();
  std::string name = to_string(type);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c - 'a' + 'A'; });
  std::string message =
      concat(name, " out of memory. Tried to allocate ", format_bytes(static_cast<int64_t>(bytes)),
             " (", on_host_ ? Device(type) : Device(type, device_), "; ",
             format_bytes(static_cast<int64_t>(total)), " total capacity; ",
             format_bytes(stats_.allocated), " already allocated; ",
             format_bytes(static_cast<int64_t>(free)), " free; ", format_bytes(stats_.reserved),
             " reserved in total; largest free block ", format_bytes(largest_free()), ")");
  if (fraction_ < 1)
    message += concat("\nThis process may take ", fraction_, " of the device's memory.");
  const std::vector<BlockInfo> blocks = largest_live(kReportedBlocks);
  if (!blocks.empty()) message += "\nLargest live blocks:";
  for (const BlockInfo& b : blocks)
    message += concat("\n  ", format_bytes(b.bytes), b.tag.empty() ? "" : "  ", b.tag);
  lock.unlock();
  throw OutOfMemoryError(message);
}

std::string CachingAllocator::summary() {
  const MemoryStats s = stats();
  const auto row = [](const char* what, const std::string& value) {
    char line[96];
    std::snprintf(line, sizeof line, "| %-24s | %16s |\n", what, value.c_str());
    return std::string(line);
  };
  const std::string rule = "|" + std::string(26, '-') + "|" + std::string(18, '-') + "|\n";
  const Device device = on_host_ ? Device(kCPU) : Device(backend_.type(), device_);
  std::string out = rule + row("device", device.str()) + rule;
  out += row("allocated", format_bytes(s.allocated)) +
         row("peak allocated", format_bytes(s.peak_allocated));
  out += row("reserved", format_bytes(s.reserved)) +
         row("peak reserved", format_bytes(s.peak_reserved));
  out += row("largest free block", format_bytes(s.largest_free_block)) + rule;
  out += row("allocations", std::to_string(s.allocations));
  out += row("segments from the device", std::to_string(s.segment_allocations));
  out += row("retries", std::to_string(s.retries)) + rule;
  for (const BlockInfo& b : live_blocks(kReportedBlocks))
    out += row(b.tag.empty() ? "(block)" : b.tag.substr(0, 24).c_str(), format_bytes(b.bytes));
  return out;
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
  block->next = spare_records_;
  spare_records_ = block;
}

}  // namespace taeda::detail
