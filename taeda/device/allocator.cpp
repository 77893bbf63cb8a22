#include "taeda/device/allocator.h"

#include <atomic>
#include <mutex>

#include "taeda/base/error.h"
#include "taeda/device/caching_allocator.h"
#include "taeda/device/idle_memory.h"
#include "taeda/device/memory_history.h"
#include "taeda/device/registry.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2::allocator {

namespace {

using detail::CachingAllocator;

// Allocators are made on first use and never destroyed: tensors may outlive static destruction.
constinit std::atomic<CachingAllocator*> allocators[kDeviceTypes][kMaxDeviceIndex] = {};

CachingAllocator& make_allocator(DeviceType type, int index) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto& slot = allocators[static_cast<int>(type)][index];
  if (!slot.load(std::memory_order_relaxed)) {
    resolve(Device(type, index));
    detail::start_history_from_environment();
    const size_t limit = detail::default_cache_limit(type);
    auto* made = new CachingAllocator(backend_of(type), index, limit,
                                      limit > 0 && detail::caches_memory(type));
    if (type == kCPU && limit > 0) detail::trim_while_idle(*made);
    slot.store(made, std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

CachingAllocator& of(Device device) {
  const DeviceType type = device.type();
  const int index = type == kCPU ? 0 : device.has_index() ? device.index() : current_device(type);
  CachingAllocator* a = allocators[static_cast<int>(type)][index].load(std::memory_order_acquire);
  return a ? *a : make_allocator(type, index);
}

constinit thread_local const std::string* current_tag = nullptr;

}  // namespace

void* allocate(Device device, size_t bytes) {
  CachingAllocator& a = of(device);
  const StreamId stream = device.is_cpu() ? 0 : current_stream(device).id();
  if (!memory::records_history()) [[likely]]
    return a.allocate(bytes, stream, current_tag);
  uint64_t stamp = 0;
  void* p =
      a.allocate(bytes, stream, current_tag ? current_tag : detail::current_module_path(), &stamp);
  detail::note_allocation(a, p, stamp);
  return p;
}

void deallocate(Device device, void* p) noexcept { of(device).deallocate(p); }

void record_stream(Device device, void* p, StreamId stream) { of(device).record_stream(p, stream); }

void empty_cache(Device device) { of(device).empty_cache(); }

void fail_allocation(Device device, int64_t n) { of(device).fail_allocation(n); }

MemoryStats memory_stats(Device device) { return of(device).stats(); }

void reset_peak_memory_stats(Device device) { of(device).reset_peak(); }

std::vector<BlockInfo> live_blocks(Device device, size_t limit) {
  return of(device).live_blocks(limit);
}

void reset_accumulated_memory_stats(Device device) { of(device).reset_accumulated(); }

std::string memory_summary(Device device, bool abbreviated) {
  return of(device).summary(abbreviated);
}

std::vector<MemorySegment> memory_snapshot(Device device) { return of(device).snapshot(); }

PoolId new_pool() {
  static std::atomic<PoolId> last{0};
  return ++last;
}

void begin_pool(Device device, PoolId pool) { of(device).begin_pool(pool); }

void end_pool(Device device) { of(device).end_pool(); }

void release_pool(Device device, PoolId pool) { of(device).release_pool(pool); }

void set_memory_fraction(Device device, double fraction) {
  of(device).set_memory_fraction(fraction);
}

double memory_fraction(Device device) { return of(device).memory_fraction(); }

TagScope::TagScope(std::string tag) : previous_(current_tag) {
  current_tag = detail::intern(std::move(tag));
}

TagScope::~TagScope() { current_tag = previous_; }

}  // namespace taeda::allocator
