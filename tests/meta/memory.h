// Memory that tests of meta watch.
#pragma once

#include "taeda/device/allocator.h"

namespace taeda::meta_tests {

/// Blocks that the host's allocator has given out so far.
inline int64_t allocations() { return allocator::memory_stats(Device(kCPU)).allocations; }

}  // namespace taeda::meta_tests
