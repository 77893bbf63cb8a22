// The toy devices: host memory with a limit, work that is done when a call returns.
#include "backend.h"

#include <taeda/device/plugin.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace toy {

namespace {

using namespace taeda;

constexpr int kDevices = 2;
constexpr size_t kMemory = size_t{1} << 30;  // of each device

using Clock = std::chrono::steady_clock;

class ToyBackend final : public Backend {
 public:
  explicit ToyBackend(DeviceType type) : type_(type) {}

  DeviceType type() const override { return type_; }
  int device_count() const override { return kDevices; }
  DeviceProperties properties(int) const override {
    DeviceProperties p;
    p.name = "Toy device";
    p.total_memory = static_cast<int64_t>(kMemory);
    p.multi_processor_count = 1;
    return p;
  }

  void* allocate(int device, size_t bytes) override {
    if (used_[device].fetch_add(bytes) + bytes <= kMemory)
      if (void* p = host_memory(bytes)) return p;
    used_[device] -= bytes;
    return nullptr;
  }
  void deallocate(int device, void* p, size_t bytes) override {
    std::free(p);
    used_[device] -= bytes;
  }
  void memory_info(int device, size_t* free, size_t* total) const override {
    *total = kMemory;
    *free = kMemory - used_[device];
  }
  void* allocate_pinned(size_t bytes) override { return host_memory(bytes); }
  void deallocate_pinned(void* p, size_t) override { std::free(p); }

  void copy(void* dst, int, const void* src, int, size_t bytes, int, StreamId) override {
    std::memcpy(dst, src, bytes);
  }
  void fill_zero(void* dst, size_t bytes, int, StreamId) override { std::memset(dst, 0, bytes); }
  bool can_access_peer(int, int) const override { return true; }

  StreamId new_stream(int, int) override { return ++streams_; }
  bool stream_query(int, StreamId) override { return true; }
  void stream_synchronize(int, StreamId) override {}
  void device_synchronize(int) override {}

  // An event is the time when it was recorded.
  EventHandle new_event(int, bool) override { return new Clock::time_point; }
  void delete_event(EventHandle event) override { delete static_cast<Clock::time_point*>(event); }
  void record_event(EventHandle event, int, StreamId) override {
    *static_cast<Clock::time_point*>(event) = Clock::now();
  }
  void stream_wait_event(int, StreamId, EventHandle) override {}
  bool event_query(EventHandle) override { return true; }
  void event_synchronize(EventHandle) override {}
  double event_elapsed_ms(EventHandle start, EventHandle end) override {
    return std::chrono::duration<double, std::milli>(*static_cast<Clock::time_point*>(end) -
                                                     *static_cast<Clock::time_point*>(start))
        .count();
  }

 private:
  static void* host_memory(size_t bytes) {
    constexpr size_t kAlign = 64;
    return std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  }

  const DeviceType type_;
  std::atomic<size_t> used_[kDevices] = {};
  std::atomic<StreamId> streams_{0};
};

Backend* start(DeviceType type) {
  register_kernels(type);
  return new ToyBackend(type);  // for as long as the process lives
}

}  // namespace

}  // namespace toy

const taeda::Plugin taeda_plugin = {
    .type = {.name = "toy", .title = "Toy", .lower_precision = taeda::kBFloat16, .preference = 2},
    .start = toy::start};
