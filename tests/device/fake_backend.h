// A device of 64 MiB whose events are finished by hand, and which can fail.
#pragma once

#include <cstdlib>
#include <set>

#include "taeda/base/error.h"
#include "taeda/device/backend.h"

namespace taeda {

class FakeBackend final : public Backend {
 public:
  struct FakeEvent {
    StreamId stream = 0;
    bool done = false;
  };

  size_t capacity = size_t{64} << 20;
  size_t used = 0;
  int raw_allocations = 0;
  std::set<FakeEvent*> events;
  bool failed = false;  // gives no events any more

  /// All events recorded on `stream` so far are over.
  void finish(StreamId stream) {
    for (FakeEvent* e : events)
      if (e->stream == stream) e->done = true;
  }

  explicit FakeBackend(DeviceType type = kSim) : type_(type) {}

  size_t discarded = 0;  // bytes, in all
  int queries = 0;       // of events

  DeviceType type() const override { return type_; }
  int device_count() const override { return 1; }
  DeviceProperties properties(int) const override { return {}; }
  void* allocate(int, size_t bytes) override {
    if (used + bytes > capacity) return nullptr;
    used += bytes;
    ++raw_allocations;
    return host_memory(bytes);
  }
  void deallocate(int, void* p, size_t bytes) override {
    used -= bytes;
    std::free(p);
  }
  size_t discard(int, void*, size_t bytes) override {
    discarded += bytes;
    return bytes;
  }
  void memory_info(int, size_t* free, size_t* total) const override {
    *free = capacity - used;
    *total = capacity;
  }
  void* allocate_pinned(size_t bytes) override { return host_memory(bytes); }
  void deallocate_pinned(void* p, size_t) override { std::free(p); }
  void copy(void*, int, const void*, int, size_t, int, StreamId) override {}
  void fill_zero(void*, size_t, int, StreamId) override {}
  bool can_access_peer(int, int) const override { return true; }
  StreamId new_stream(int, int) override { return 1; }
  bool stream_query(int, StreamId) override { return true; }
  void stream_synchronize(int, StreamId) override {}
  void device_synchronize(int) override {}
  EventHandle new_event(int, bool) override {
    if (failed) throw Error("the device has failed");
    auto* e = new FakeEvent;
    events.insert(e);
    return e;
  }
  void delete_event(EventHandle e) override {
    events.erase(static_cast<FakeEvent*>(e));
    delete static_cast<FakeEvent*>(e);
  }
  void record_event(EventHandle e, int, StreamId stream) override {
    static_cast<FakeEvent*>(e)->stream = stream;
  }
  void stream_wait_event(int, StreamId, EventHandle) override {}
  bool event_query(EventHandle e) override {
    ++queries;
    return static_cast<FakeEvent*>(e)->done;
  }
  void event_synchronize(EventHandle e) override { static_cast<FakeEvent*>(e)->done = true; }
  double event_elapsed_ms(EventHandle, EventHandle) override { return 0; }

 private:
  const DeviceType type_;

  static void* host_memory(size_t bytes) {
    constexpr size_t kAlign = 512;  // of which aligned_alloc wants a multiple
    return std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  }
};

}  // namespace taeda
