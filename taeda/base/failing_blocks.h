// Small objects whose memory runs out on demand: for tests of how a program recovers.
#pragma once

#include <cstdint>

namespace taeda::inline v0_2 {

/// The n-th block that this thread takes by `cached_block_allocate` from now (1 is the next) throws
/// OutOfMemoryError, once; 0 calls that off. In between the thread keeps no free blocks, so that
/// every block counts. Throws ValueError for a negative number.
void fail_cached_block(int64_t n);

}  // namespace taeda::inline v0_2
