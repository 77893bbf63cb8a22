// Calls whose memory runs out: at the first allocation, at the second, at every one that they make.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/base/failing_blocks.h"
#include "taeda/device/allocator.h"

namespace taeda {

/// The n-th allocation on `device` in this scope fails.
class FailingAllocation {
 public:
  FailingAllocation(Device device, int64_t n) : device_(device) {
    allocator::fail_allocation(device, n);
  }
  ~FailingAllocation() { allocator::fail_allocation(device_, 0); }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

 private:
  Device device_;
};

/// The n-th small object of this thread - a handle, a node, a storage of few numbers - does.
class FailingBlock {
 public:
  explicit FailingBlock(int64_t n) { fail_cached_block(n); }
  ~FailingBlock() { fail_cached_block(0); }
  FailingBlock(const FailingBlock&) = delete;
  FailingBlock& operator=(const FailingBlock&) = delete;
};

/// Bytes that tensors on `device` and on the host hold.
inline int64_t bytes_in_use(Device device) {
  int64_t bytes = allocator::memory_stats(Device(kCPU)).allocated_bytes.all.current;
  if (device.type() != kCPU) bytes += allocator::memory_stats(device).allocated_bytes.all.current;
  return bytes;
}

/// Calls `attempt` with its n-th allocation failing, for n = 1, 2, ... until it goes through.
/// `Failing` says of what, one of the classes above, made of `where` and n. `unchanged` is called
/// after each failure, to look at what is left. A failure that is not an OutOfMemoryError ends the
/// test. Returns how many allocations there were to fail.
template <class Failing, class Attempt, class Unchanged, class... Where>
int64_t fail_each(Attempt&& attempt, Unchanged&& unchanged, const Where&... where) {
  constexpr int64_t kMany = 5000;
  for (int64_t n = 1; n < kMany; ++n) {
    SCOPED_TRACE(::testing::Message() << "allocation " << n << " fails");
    try {
      const Failing failing(where..., n);
      attempt();
      return n - 1;
    } catch (const OutOfMemoryError&) {
    } catch (const std::exception& e) {
      ADD_FAILURE() << "not an OutOfMemoryError: " << e.what();
      return n;
    }
    unchanged();
  }
  ADD_FAILURE() << "still failing after " << kMany << " allocations";
  return kMany;
}

/// Both: what tensors on `device` hold, then the small objects around them.
template <class Attempt, class Unchanged>
int64_t fail_each_allocation(Device device, Attempt&& attempt, Unchanged&& unchanged) {
  return fail_each<FailingAllocation>(attempt, unchanged, device) +
         fail_each<FailingBlock>(attempt, unchanged);
}

}  // namespace taeda
