#include "taeda/base/block_cache.h"

#include <cstdint>
#include <new>

#include "taeda/base/error.h"
#include "taeda/base/failing_blocks.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAEDA_SANITIZED 1
#else
#define TAEDA_SANITIZED 0
#endif

namespace taeda::inline v0_2 {

namespace {

constexpr size_t kGranularity = 64;
constexpr size_t kClasses = kMaxCachedBlock / kGranularity;
constexpr uint32_t kMaxPerClass = 1024;

struct FreeBlock {
  FreeBlock* next;
};

/// Free blocks of one thread. Trivially constructible so that access needs no guard; the lists are
/// given back by `Cleaner` when the thread ends.
struct Lists {
  FreeBlock* head[kClasses];
  uint32_t count[kClasses];
  bool armed;
  bool closed;
  int64_t fail_in;  ///< blocks from the heap until the one that is to fail; 0 for none
};

constinit thread_local Lists lists{};

/// Gives all free blocks back; until `closed` is unset, freed ones go straight to the heap.
void close_lists() {
  lists.closed = true;
  for (size_t c = 0; c < kClasses; ++c) {
    while (FreeBlock* block = lists.head[c]) {
      lists.head[c] = block->next;
      ::operator delete (block, std::align_val_t{64});
    }
    lists.count[c] = 0;
  }
}

struct Cleaner {
  ~Cleaner() { close_lists(); }
};

void arm() {
  thread_local Cleaner cleaner;
  (void)cleaner;
  lists.armed = true;
}

size_t class_of(size_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / kGranularity; }

void* block_from_heap(size_t bytes) {
  const bool fails = lists.fail_in > 0 && --lists.fail_in == 0;
  void* p = fails ? nullptr : ::operator new (bytes, std::align_val_t{64}, std::nothrow);
  TAEDA_CHECK_AS(OutOfMemoryError, p, "Host memory is exhausted: could not allocate ", bytes,
                 " bytes");
  return p;
}

}  // namespace

// Under a sanitizer every block comes from the heap, so that use after free is seen.
void* cached_block_allocate(size_t bytes) {
  if (TAEDA_SANITIZED || bytes > kMaxCachedBlock) return block_from_heap(bytes);
  const size_t c = class_of(bytes);
  if (FreeBlock* block = lists.head[c]) {
    lists.head[c] = block->next;
    --lists.count[c];
    return block;
  }
  return block_from_heap((c + 1) * kGranularity);
}

void cached_block_free(void* p, size_t bytes) noexcept {
  const size_t c = class_of(bytes);
  if (TAEDA_SANITIZED || bytes > kMaxCachedBlock || lists.closed ||
      lists.count[c] >= kMaxPerClass) {
    ::operator delete (p, std::align_val_t{64});
    return;
  }
  if (!lists.armed) [[unlikely]]
    arm();
  auto* block = static_cast<FreeBlock*>(p);
  block->next = lists.head[c];
  lists.head[c] = block;
  ++lists.count[c];
}

void fail_cached_block(int64_t n) {
  TAEDA_CHECK_VALUE(n >= 0, "fail_cached_block: expected n >= 0, got ", n);
  if (n > 0) close_lists();
  lists.closed = n > 0;
  lists.fail_in = n;
}

}  // namespace taeda::inline v0_2
