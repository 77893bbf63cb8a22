// The host as a device: one stream, whose work is done when a call returns.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"
#include "taeda/cpu/capture.h"
#include "taeda/device/builtin.h"
#include "taeda/device/host_graph.h"

namespace taeda::inline v0_2::cpu {

namespace {

constexpr size_t kHugePage = size_t{1} << 21;
// A page fault costs about as much as writing the page three times: from here on, take 2 MiB pages.
constexpr size_t kHugeFrom = size_t{4} << 20;
constexpr int64_t kCopyGrain = int64_t{1} << 20;  // bytes per thread worth a second thread

/// An event of the host is the time when it was recorded.
struct HostEvent {
  std::chrono::steady_clock::time_point time;
};

/// Fresh pages, aligned to `alignment` (a multiple of the page size); nullptr if there are none.
void* map_pages(size_t bytes, size_t alignment) {
  const size_t padded = bytes + alignment;
  void* p = mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(p);
  const uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
  if (aligned > begin) munmap(p, aligned - begin);
  const size_t tail = begin + padded - (aligned + bytes);
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + bytes), tail);
  return reinterpret_cast<void*>(aligned);
}

size_t page_round(size_t bytes) {
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// MemAvailable of /proc/meminfo, or the free pages where that cannot be read.
size_t available_memory() {
  if (std::FILE* f = std::fopen("/proc/meminfo", "r")) {
    char line[128];
    unsigned long long kib = 0;
    bool found = false;
    while (!found && std::fgets(line, sizeof line, f))
      found = std::sscanf(line, "MemAvailable: %llu", &kib) == 1;
    std::fclose(f);
    if (found) return static_cast<size_t>(kib) * 1024;
  }
  return static_cast<size_t>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t total_memory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

class CpuBackend final : public Backend {
 public:
  DeviceType type() const override { return kCPU; }
  int device_count() const override { return 1; }
  DeviceProperties properties(int) const override {
    DeviceProperties p;
    p.name = "CPU";
    p.total_memory = static_cast<int64_t>(total_memory());
    p.multi_processor_count = static_cast<int>(std::thread::hardware_concurrency());
    return p;
  }

  void* allocate(int, size_t bytes) override {
    const size_t size = page_round(bytes);
    void* p = map_pages(size, size >= kHugeFrom ? kHugePage : page_round(1));
    if (p && size >= kHugeFrom) madvise(p, size, MADV_HUGEPAGE);  // advice: may be refused
    return p;
  }
  void deallocate(int, void* p, size_t bytes) override { munmap(p, page_round(bytes)); }
  size_t discard(int, void* p, size_t bytes) override {
    const auto begin = page_round(reinterpret_cast<uintptr_t>(p));
    const uintptr_t end = (reinterpret_cast<uintptr_t>(p) + bytes) / page_round(1) * page_round(1);
    if (end <= begin || madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED) != 0)
      return 0;
    return end - begin;
  }
  void memory_info(int, size_t* free, size_t* total) const override {
    *free = available_memory();
    *total = total_memory();
  }

  void* allocate_pinned(size_t bytes) override { return allocate(0, bytes); }
  void deallocate_pinned(void* p, size_t bytes) override { deallocate(0, p, bytes); }

  void copy(void* dst, int, const void* src, int, size_t bytes, int, StreamId) override {
    detail::run_or_record("copy", [=] {
      parallel_for(0, static_cast<int64_t>(bytes), kCopyGrain, [&](int64_t b, int64_t e) {
        std::memcpy(static_cast<char*>(dst) + b, static_cast<const char*>(src) + b,
                    static_cast<size_t>(e - b));
      });
    });
  }
  void fill_zero(void* dst, size_t bytes, int, StreamId) override {
    detail::run_or_record("fill with zeros", [=] {
      parallel_for(0, static_cast<int64_t>(bytes), kCopyGrain, [&](int64_t b, int64_t e) {
        std::memset(static_cast<char*>(dst) + b, 0, static_cast<size_t>(e - b));
      });
    });
  }
  bool can_access_peer(int, int) const override { return true; }

  StreamId new_stream(int, int) override { return 0; }
  bool stream_query(int, StreamId) override { return true; }
  void stream_synchronize(int, StreamId) override {}
  void device_synchronize(int) override {}

  EventHandle new_event(int, bool) override { return new HostEvent; }
  void delete_event(EventHandle event) override { delete static_cast<HostEvent*>(event); }
  void record_event(EventHandle event, int, StreamId) override {
    static_cast<HostEvent*>(event)->time = std::chrono::steady_clock::now();
  }
  void stream_wait_event(int, StreamId, EventHandle) override {}
  bool event_query(EventHandle) override { return true; }
  void event_synchronize(EventHandle) override {}
  double event_elapsed_ms(EventHandle start, EventHandle end) override {
    const auto span = static_cast<HostEvent*>(end)->time - static_cast<HostEvent*>(start)->time;
    return std::chrono::duration<double, std::milli>(span).count();
  }

  void begin_capture(int, StreamId, CaptureMode) override {
    detail::begin_host_capture();
    record_kernels(true);
  }
  GraphHandle end_capture(int, StreamId) override {
    record_kernels(false);
    return detail::end_host_capture().release();
  }
  bool is_capturing(int, StreamId) const override { return detail::host_recording(); }
  void replay(GraphHandle graph, int, StreamId) override {
    static_cast<detail::HostGraph*>(graph)->run();
  }
  void delete_graph(GraphHandle graph) override { delete static_cast<detail::HostGraph*>(graph); }
  void dump_graph(GraphHandle graph, const std::string& path) override {
    static_cast<detail::HostGraph*>(graph)->dump(path);
  }
};

}  // namespace

}  // namespace taeda::inline v0_2::cpu

namespace taeda::inline v0_2::builtin {

Backend* cpu_backend() {
  static auto* backend = new cpu::CpuBackend;
  return backend;
}

}  // namespace taeda::inline v0_2::builtin
