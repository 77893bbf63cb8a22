#include "taeda/base/block_cache.h"

#include <cstdint>
#include <new>

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
};

constinit thread_local Lists lists{};

struct Cleaner {
  ~Cleaner() {
    lists.closed = true;
    for (size_t c = 0; c < kClasses; ++c)
      while (FreeBlock* block = lists.head[c]) {
        lists.head[c] = block->next;
        ::operator delete (block, std::align_val_t{64});
      }
  }
};

void arm() {
  thread_local Cleaner cleaner;
  (void)cleaner;
  lists.armed = true;
}

size_t class_of(size_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / kGranularity; }

}  // namespace

// Under a sanitizer every block comes from the heap, so that use after free is seen.
void* cached_block_allocate(size_t bytes) {
  if (TAEDA_SANITIZED || bytes > kMaxCachedBlock)
    return ::operator new (bytes, std::align_val_t{64});
  const size_t c = class_of(bytes);
  if (FreeBlock* block = lists.head[c]) {
    lists.head[c] = block->next;
    --lists.count[c];
    return block;
  }
  return ::operator new ((c + 1) * kGranularity, std::align_val_t{64});
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

}  // namespace taeda
