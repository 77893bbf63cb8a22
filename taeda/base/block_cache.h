// Thread-local free lists for the small objects that every operation makes: tensor handles,
// storages with a few numbers, graph nodes. A hit costs a few instructions and no lock; a block may
// be freed on another thread than the one that allocated it.
#pragma once

#include <cstddef>

namespace taeda::inline v0_2 {

/// Largest block served from the free lists, in bytes. Bigger requests go to the heap.
constexpr size_t kMaxCachedBlock = 1024;

/// Uninitialised memory aligned to 64 bytes; never null (throws std::bad_alloc).
void* cached_block_allocate(size_t bytes);
/// `bytes` must be what the block was allocated with.
void cached_block_free(void* block, size_t bytes) noexcept;

/// Base that routes a class's `new` and `delete` through the free lists.
/// Those above kMaxCachedBlock bytes come from the system's allocator.
struct BlockCached {
  static void* operator new(size_t bytes) { return cached_block_allocate(bytes); }
  static void* operator new(size_t, void* where) noexcept { return where; }
  static void operator delete(void* p, size_t bytes) noexcept { cached_block_free(p, bytes); }
};

}  // namespace taeda
