// The memory of one simulated device: a range of addresses that fault on the host, and behind each,
// at a constant distance, a byte that the device's kernels and copies reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::sim {

/// Any method may be called from any thread.
class Memory {
 public:
  Memory(Device device, size_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// A device address, aligned to a page; nullptr when less than `bytes` are free.
  void* allocate(size_t bytes);
  /// The contents are gone, and the host has its pages back.
  void deallocate(void* p, size_t bytes);

  /// Addresses apart from those of `allocate`, and bytes behind them: device/virtual_memory.h.
  /// Sizes are multiples of kGranularity.
  static constexpr size_t kGranularity = size_t{2} << 20;
  void* reserve(size_t bytes);
  void unreserve(void* p, size_t bytes);
  bool map(void* p, size_t bytes);
  void unmap(void* p, size_t bytes);

  /// Whether all bytes from `p` on lie in one block of `allocate` that was not given back, or have
  /// bytes behind them by `map`.
  bool is_live(const void* p, size_t bytes) const;

  /// What to add to a device address to reach its byte.
  ptrdiff_t alias_delta() const { return static_cast<ptrdiff_t>(range_); }
  bool contains(const void* p) const {
    return static_cast<const char*>(p) >= base_ && static_cast<const char*>(p) < base_ + range_;
  }
  size_t capacity() const { return capacity_; }
  size_t used() const;

 private:
  const Device device_;
  const size_t capacity_;
  size_t range_;  ///< addresses; more than the capacity, so that holes between blocks do not matter
  char* base_;
  mutable std::mutex mutex_;
  size_t used_ = 0;
  std::map<const char*, size_t> free_;    ///< address to length
  std::map<const char*, size_t> blocks_;  ///< of `allocate`, likewise
  std::map<const char*, size_t> mapped_;  ///< by `map`, likewise; neighbours are joined
};

}  // namespace taeda::sim
