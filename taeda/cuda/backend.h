// The device interface of NVIDIA GPUs.
#pragma once

#include <atomic>
#include <string>

#include "taeda/cuda/virtual_memory.h"
#include "taeda/device/backend.h"

namespace taeda::inline v0_2::gpu {

class CudaBackend final : public Backend {
 public:
  /// Counts the devices. Throws nothing: without a driver there are none, with a reason.
  CudaBackend();

  DeviceType type() const override { return kCUDA; }
  int device_count() const override { return count_; }
  std::string unavailable_reason() const override { return reason_; }
  DeviceProperties properties(int device) const override;

  void* allocate(int device, size_t bytes) override;
  void deallocate(int device, void* p, size_t bytes) override;
  void memory_info(int device, size_t* free, size_t* total) const override;
  void* allocate_pinned(size_t bytes) override;
  void deallocate_pinned(void* p, size_t bytes) override;

  void copy(void* dst, int dst_device, const void* src, int src_device, size_t bytes, int device,
            StreamId stream) override;
  void fill_zero(void* dst, size_t bytes, int device, StreamId stream) override;
  bool can_access_peer(int device, int peer) const override;

  VirtualMemory* virtual_memory() override { return cuda_virtual_memory(); }

  StreamId new_stream(int device, int priority) override;
  PriorityRange stream_priority_range(int device) const override;
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
  void enable_peer(int device, int peer);

  static constexpr int kMaxDevices = 128;  // what Device's index can name
  int count_ = 0;
  std::string reason_;
  std::atomic<bool> peers_tried_[kMaxDevices][kMaxDevices] = {};
};

}  // namespace taeda::gpu
