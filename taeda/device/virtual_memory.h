// Addresses and the memory behind them apart: what a device type offers so that the allocator's
// segments can grow where they are.
#pragma once

#include <cstddef>

namespace taeda::inline v0_2 {

/// A part of a Backend. Addresses and sizes are multiples of `granularity`. Any method may be
/// called from any thread.
class VirtualMemory {
 public:
  virtual ~VirtualMemory() = default;
  /// Bytes; 0 for a device that cannot do this.
  virtual size_t granularity(int device) = 0;
  /// Addresses with nothing behind them; nullptr if there are not so many left.
  virtual void* reserve(int device, size_t bytes) = 0;
  virtual void unreserve(int device, void* p, size_t bytes) = 0;
  /// Puts memory behind reserved addresses. False when the device has not enough; nothing has
  /// changed then.
  virtual bool map(int device, void* p, size_t bytes) = 0;
  /// Gives back what one call of `map` put there. Queued work must not use it any more.
  virtual void unmap(int device, void* p, size_t bytes) = 0;
};

}  // namespace taeda
