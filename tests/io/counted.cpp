#include "tests/io/counted.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int64_t steps = 0;
thread_local int64_t until_failure = 0;  // allocations; 0: none fails
constexpr size_t kBlock = 64;

}  // namespace

namespace taeda {

CountedSteps::CountedSteps() : before_(steps) {}
int64_t CountedSteps::count() const { return steps - before_; }

FailingNew::FailingNew(int64_t n) { until_failure = n; }
FailingNew::~FailingNew() { until_failure = 0; }

}  // namespace taeda

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The program's definitions come before libc's, for the library, too.
extern "C" int memcmp(const void* a, const void* b, size_t bytes) noexcept {
  ++steps;
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}

// A compiler that looks into one of the two, and not into the other, takes them for no pair.
[[gnu::noinline]] void* operator new(size_t bytes) {
  steps += 1 + static_cast<int64_t>(bytes / kBlock);
  if (until_failure > 0 && --until_failure == 0) throw std::bad_alloc();
  if (void* out = std::malloc(bytes)) return out;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

#endif
