// Simulated accelerators as a device type: "sim", or "cuda" under TAEDA_SIM_AS_CUDA.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "taeda/device/backend.h"
#include "taeda/device/sim_cost.h"
#include "taeda/device/virtual_memory.h"
#include "taeda/sim/device.h"

namespace taeda::inline v0_2::sim {

class SimBackend final : public Backend, private VirtualMemory {
 public:
  static constexpr int kMaxDevices = 64;

  SimBackend(DeviceType type, int devices, size_t memory);

  /// Throws Error while a device holds memory.
  void configure(int devices, size_t memory, bool compute);
  /// The device, made on first use.
  SimDevice& at(int index) const;

  DeviceType type() const override { return type_; }
  int device_count() const override { return count_.load(std::memory_order_relaxed); }
  std::string unavailable_reason() const override;
  DeviceProperties properties(int device) const override;

  void* allocate(int device, size_t bytes) override;
  void deallocate(int device, void* p, size_t bytes) override;
  void memory_info(int device, size_t* free, size_t* total) const override;
  void* allocate_pinned(size_t bytes) override;
  void deallocate_pinned(void* p, size_t bytes) override;

  void copy(void* dst, int dst_device, const void* src, int src_device, size_t bytes, int device,
            StreamId stream) override;
  void fill_zero(void* dst, size_t bytes, int device, StreamId stream) override;
  bool can_access_peer(int, int) const override { return true; }

  VirtualMemory* virtual_memory() override { return this; }

  StreamId new_stream(int device, int priority) override;
  /// As wide as on real devices. Priorities are kept, but change nothing: every stream is a thread.
  PriorityRange stream_priority_range(int) const override { return {0, -3}; }
  int stream_priority(int device, StreamId stream) const override;
  bool stream_query(int device, StreamId stream) override;
  void stream_synchronize(int device, StreamId stream) override;
  void device_synchronize(int device) override;

  EventHandle new_event(int device, bool timing) override;
  void delete_event(EventHandle event) override;
  void record_event(EventHandle event, int device, StreamId stream) override;
  void stream_wait_event(int device, StreamId stream, EventHandle event) override;
  bool event_query(EventHandle event) override;
  void event_synchronize(EventHandle event) override;
  double event_elapsed_ms(EventHandle start, EventHandle end) override;

  void begin_capture(int device, StreamId stream, CaptureMode mode) override;
  GraphHandle end_capture(int device, StreamId stream) override;
  bool is_capturing(int device, StreamId stream) const override;
  void replay(GraphHandle graph, int device, StreamId stream) override;
  void delete_graph(GraphHandle graph) override;
  void dump_graph(GraphHandle graph, const std::string& path) override;

 private:
  size_t granularity(int) override { return Memory::kGranularity; }
  void* reserve(int device, size_t bytes) override;
  void unreserve(int device, void* p, size_t bytes) override;
  bool map(int device, void* p, size_t bytes) override;
  void unmap(int device, void* p, size_t bytes) override;

  bool is_pinned(const void* p) const;
  /// The byte behind an address of `device`, or of the host for -1. Throws Error, naming `what` and
  /// its argument, where the `bytes` there are not live memory of it.
  void* view(int device, const void* p, size_t bytes, const char* what, size_t argument) const;

  const DeviceType type_;
  std::atomic<int> count_;
  size_t memory_;
  bool compute_ = true;
  mutable std::mutex mutex_;
  mutable std::array<std::atomic<SimDevice*>, kMaxDevices> devices_ = {};
  std::map<char*, size_t> pinned_;
};

/// Bytes from "512M", "2G" or a plain number. Throws ValueError for other text.
size_t parse_bytes(const char* text);
/// TAEDA_SIM_MEMORY, or 2 GiB.
size_t default_memory();
/// That of TAEDA_SIM_COST, if it is set. Throws ValueError for a name that is not known.
std::optional<CostModel> default_cost_model();
/// The backend that serves a type, if simulated devices do; nullptr otherwise.
SimBackend* backend_if_loaded(DeviceType type);

}  // namespace taeda::inline v0_2::sim
