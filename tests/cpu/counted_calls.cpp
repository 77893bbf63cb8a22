#include "tests/cpu/counted_calls.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>

namespace {

constinit thread_local int64_t allocations = 0, locks = 0;

}  // namespace

namespace taeda {

CountedCalls::CountedCalls() : allocations_(::allocations), locks_(::locks) {}
int64_t CountedCalls::allocations() const { return ::allocations - allocations_; }
int64_t CountedCalls::locks() const { return ::locks - locks_; }

}  // namespace taeda

// The program's definitions come before libc's, for the library, too.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__)

bool taeda::CountedCalls::counts() { return true; }

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* p, size_t bytes) {
  ++allocations;
  return __libc_realloc(p, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  ++allocations;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static const auto lock =
      reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  ++locks;
  return lock(mutex);
}
}

#else

bool taeda::CountedCalls::counts() { return false; }

#endif
