// THE device interface: memory, copies, streams, events and graphs. Operations are not its
// business; they find their kernels through slots (kernels/slot.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "taeda/base/device.h"

namespace taeda::inline v0_2 {

/// What `get_device_properties` tells about a device.
/// Memory is bytes.
struct DeviceProperties {
  std::string name;
  int64_t total_memory = 0;  ///< bytes
  int major = 0, minor = 0;  ///< compute capability; 0.0 where it means nothing
  int multi_processor_count = 0;
  // 0 or empty where it means nothing; memory in bytes.
  int max_threads_per_multi_processor = 0;
  int max_threads_per_block = 0;
  int regs_per_multiprocessor = 0;
  int warp_size = 0;
  int64_t shared_memory_per_block = 0;
  int64_t shared_memory_per_multiprocessor = 0;
  int64_t L2_cache_size = 0;
  int memory_bus_width = 0;  ///< bits
  bool is_integrated = false;
  bool is_multi_gpu_board = false;
  std::string pci_bus_id;  ///< "0000:65:00.0"
  std::string uuid;        ///< "GPU-" and 32 hexadecimal digits in groups
};

/// A queue of work on one device. Id 0 is the device's default stream.
using StreamId = int64_t;
/// A point in a stream, owned by the backend that made it.
using EventHandle = void*;
/// Recorded work that can be queued again, owned by the backend that made it.
using GraphHandle = void*;
/// Which calls are forbidden while a capture is under way: those that could spoil it from any
/// thread, from the capturing thread, or none.
/// A forbidden one throws Error.
enum class CaptureMode : int8_t { Global, ThreadLocal, Relaxed };

/// Priorities that a device's streams can have: from `least`, which is 0, down to `greatest`.
struct PriorityRange {
  int least = 0, greatest = 0;
};

class VirtualMemory;

namespace detail {
[[noreturn]] void throw_no_graphs(DeviceType type);
}

/// One device type. Methods may be called from any thread. Addresses given out by `allocate` are
/// device addresses: only the backend's own kernels and copies may follow them.
class Backend {
 public:
  virtual ~Backend() = default;

  /// The type that this is the backend of.
  virtual DeviceType type() const = 0;
  /// Devices that exist; 0 with a reason in `unavailable_reason` where there are none.
  virtual int device_count() const = 0;
  virtual std::string unavailable_reason() const { return ""; }
  virtual DeviceProperties properties(int device) const = 0;

  /// Raw memory, at least 64-byte aligned; nullptr when the device has not enough.
  virtual void* allocate(int device, size_t bytes) = 0;
  virtual void deallocate(int device, void* p, size_t bytes) = 0;
  /// Takes the memory of the whole pages in a range back; the addresses stay good for new memory at
  /// the next use. Returns how many bytes that are; 0 for a type that cannot.
  virtual size_t discard(int, void*, size_t) { return 0; }
  /// Free and total bytes of the device.
  virtual void memory_info(int device, size_t* free, size_t* total) const = 0;
  /// Memory that is put behind addresses page by page; nullptr for a type without.
  virtual VirtualMemory* virtual_memory() { return nullptr; }

  /// Host memory that this device copies from and to without staging.
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void deallocate_pinned(void* p, size_t bytes) = 0;

  /// Copies `bytes`, ordered after the work in `stream` of `device`. Each of dst and src is on the
  /// given device of this type or, with index -1, on the host. The call returns when a pageable
  /// host side may be reused; with pinned host memory, or between devices, it may return at once.
  virtual void copy(void* dst, int dst_device, const void* src, int src_device, size_t bytes,
                    int device, StreamId stream) = 0;
  virtual void fill_zero(void* dst, size_t bytes, int device, StreamId stream) = 0;
  virtual bool can_access_peer(int device, int peer) const = 0;

  /// A new stream. Of two, the one with the smaller `priority` is served first; a number outside of
  /// the range means the nearest one in it.
  virtual StreamId new_stream(int device, int priority) = 0;
  virtual PriorityRange stream_priority_range(int) const { return {}; }
  virtual int stream_priority(int, StreamId) const { return 0; }
  virtual bool stream_query(int device, StreamId stream) = 0;
  virtual void stream_synchronize(int device, StreamId stream) = 0;
  virtual void device_synchronize(int device) = 0;

  /// Events; `timing`: elapsed times are asked for.
  /// They are milliseconds.
  virtual EventHandle new_event(int device, bool timing) = 0;
  virtual void delete_event(EventHandle event) = 0;
  virtual void record_event(EventHandle event, int device, StreamId stream) = 0;
  /// Later work of the stream waits for the event; the host does not.
  virtual void stream_wait_event(int device, StreamId stream, EventHandle event) = 0;
  virtual bool event_query(EventHandle event) = 0;
  virtual void event_synchronize(EventHandle event) = 0;
  /// Milliseconds between two recorded timing events.
  virtual double event_elapsed_ms(EventHandle start, EventHandle end) = 0;

  /// From here to `end_capture`, work for `stream` is recorded instead of run, and so is the work
  /// of streams that wait for an event recorded there. A type without graphs leaves these as they
  /// are.
  virtual void begin_capture(int, StreamId, CaptureMode) { detail::throw_no_graphs(type()); }
  /// Throws Error if something was asked for that cannot be recorded.
  virtual GraphHandle end_capture(int, StreamId) { detail::throw_no_graphs(type()); }
  virtual bool is_capturing(int, StreamId) const { return false; }
  /// Queues what was recorded.
  virtual void replay(GraphHandle, int, StreamId) { detail::throw_no_graphs(type()); }
  virtual void delete_graph(GraphHandle) {}
  /// Writes the graph to a file, in the language of Graphviz.
  virtual void dump_graph(GraphHandle, const std::string&) { detail::throw_no_graphs(type()); }
};

}  // namespace taeda
