// The caching allocator: one policy for every device.
//
// Blocks are cut from larger segments, kept when freed, and reused on the stream that used them;
// a block that other streams used (record_stream) waits for their events first. Sizes are rounded
// to 512 bytes; best fit, with splitting and coalescing inside a segment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/device/backend.h"
#include "taeda/device/memory_stats.h"

namespace taeda::inline v0_2 {

namespace allocator {

/// At least `bytes`, 64-byte aligned, ordered after the current stream's work. Frees the cache and
/// retries once; then throws OutOfMemoryError with requested, allocated, reserved, largest free
/// block and the ten largest live blocks, by name where the history knows it (memory_stats.h).
void* allocate(Device device, size_t bytes);
void deallocate(Device device, void* p) noexcept;
/// The block may be used by work of `stream` until its end: it is not reused before.
void record_stream(Device device, void* p, StreamId stream);

/// Waits for the users of freed blocks, and gives the device back what is not in use.
void empty_cache(Device device);
/// The n-th call of `allocate` from now (1 is the next) throws OutOfMemoryError, once: for tests of
/// how a program recovers.
void fail_allocation(Device device, int64_t n);
MemoryStats memory_stats(Device device);
/// Peaks begin anew at what is current.
void reset_peak_memory_stats(Device device);
/// What was ever allocated and freed is counted from 0 again, as are retries and errors.
void reset_accumulated_memory_stats(Device device);
/// Live blocks, largest first, `limit` at most.
std::vector<BlockInfo> live_blocks(Device device, size_t limit);
/// A table for people: current, peak, allocated and freed in all; then the ten largest live blocks.
/// `abbreviated`: without the rows for small and large blocks.
std::string memory_summary(Device device, bool abbreviated = false);
/// All segments of the device's allocator, by address.
std::vector<MemorySegment> memory_snapshot(Device device);

/// Memory of its own for what a graph allocates while it is captured: replays use it again, so
/// nobody else may. Pool 0 is everybody's.
using PoolId = uint64_t;
PoolId new_pool();
/// Until `end_pool`, requests of streams that are being captured are served from `pool`, and no
/// event is asked for. Throws Error if another capture is under way on the device.
void begin_pool(Device device, PoolId pool);
void end_pool(Device device);
/// Ends one use that began with `begin_pool`. After the last the pool's memory goes to the cache as
/// it comes free.
void release_pool(Device device, PoolId pool);

/// This process takes at most so much of the device's memory, from 0 to 1 (the default): beyond it,
/// a request fails as if the device were full. Throws ValueError for other numbers.
void set_memory_fraction(Device device, double fraction);
double memory_fraction(Device device);

/// Settings as TAEDA_ALLOC_CONF gives them, "name:value" with commas between. There is one:
/// `expandable_segments:True` makes pools grow where they are, page by page, on devices that can
/// put memory behind addresses; memory then fails to fit less often, because free neighbours are
/// never of different segments. Holds for what is taken from devices from now on. Throws ValueError
/// for anything else.
void set_settings(const std::string& settings);
bool expandable_segments();

/// Labels the blocks that this thread allocates in a scope.
class TagScope {
 public:
  explicit TagScope(std::string tag);
  ~TagScope();
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

 private:
  const std::string* previous_;
};

/// Pinned host memory of the accelerator type, cached.
void* allocate_pinned(DeviceType type, size_t bytes);
/// The block is reused when the streams recorded for it (record_pinned_use) are past their copies.
void deallocate_pinned(DeviceType type, void* p) noexcept;
/// Work queued on `stream` reads or writes the pinned block that holds `p`. False if `p` lies in no
/// live pinned block of the stream's device type.
bool record_pinned_use(const void* p, Device device, StreamId stream);
/// Whether `p` lies in a live pinned block of the type.
bool is_pinned(DeviceType type, const void* p);

}  // namespace allocator
}  // namespace taeda
