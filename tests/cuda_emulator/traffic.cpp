#include "traffic.h"

#include <algorithm>
#include <map>
#include <string>

#include "device_memory.h"
#include "emulator.h"

namespace {

bool counting;
emulator::Traffic* now;  // of the kernel that runs, while it is counted
std::map<std::string, emulator::Traffic>& kernels() {
  static std::map<std::string, emulator::Traffic> all;
  return all;
}

int64_t accesses[1024];  // of each thread of the block
bool is_counted(const void* p) {
  if (!now || !emulator::is_device_memory(p)) return false;
  const uint3& t = threadIdx;
  int64_t& mine = accesses[t.x + blockDim.x * (t.y + blockDim.y * t.z)];
  now->longest = std::max(now->longest, ++mine);
  return true;
}
void on_read(const void* p, uint64_t bytes) {
  if (is_counted(p)) now->read += static_cast<int64_t>(bytes);
}
void on_write(const void* p, uint64_t bytes) {
  if (is_counted(p)) now->written += static_cast<int64_t>(bytes);
}

}  // namespace

namespace emulator {

void begin_launch(const char* kernel) {
  if (!counting) return;
  now = &kernels()[kernel];
  ++now->launches;
}
void end_launch() { now = nullptr; }
void begin_block() {
  if (now) std::fill(std::begin(accesses), std::end(accesses), 0);
}

void add_traffic(const char* kernel, const Traffic& traffic) {
  if (!counting) return;
  Traffic& sum = kernels()[kernel];
  sum.launches += traffic.launches;
  sum.read += traffic.read;
  sum.written += traffic.written;
}

}  // namespace emulator

extern "C" {

void emulator_start_counting() {
  kernels().clear();
  counting = true;
}
void emulator_stop_counting(void (*each)(const char*, const emulator::Traffic*, void*),
                            void* context) {
  counting = false;
  for (const auto& [kernel, traffic] : kernels()) each(kernel.c_str(), &traffic, context);
}

// ---- The functions that the compiler calls

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ACCESSES(bytes)                                             \
  void __tsan_read##bytes(void* p) { on_read(p, bytes); }           \
  void __tsan_write##bytes(void* p) { on_write(p, bytes); }         \
  void __tsan_unaligned_read##bytes(void* p) { on_read(p, bytes); } \
  void __tsan_unaligned_write##bytes(void* p) { on_write(p, bytes); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void* p, unsigned long bytes) { on_read(p, bytes); }
void __tsan_write_range(void* p, unsigned long bytes) { on_write(p, bytes); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// Guards of local statics, and counters of the host's code in the same sources.
#define ATOMICS(bits, T)                                                                      \
  T __tsan_atomic##bits##_load(const volatile T* p, int) {                                    \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
  }                                                                                           \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) {                                 \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                           \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                 \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                       \
  }                                                                                           \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) {                                \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) {                                \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) {                                 \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                         \
  }                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* old, T v, int, int) {   \
    return __atomic_compare_exchange_n(p, old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                           \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* old, T v, int, int) {     \
    return __atomic_compare_exchange_n(p, old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }
ATOMICS(8, uint8_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

}  // extern "C"
