// A recording as events with parents, times and memory, and their sums by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/base/tracing_log.h"

namespace taeda::inline v0_2::profiler {

/// Something that took time: on a thread of the host, or (kind DeviceWork) on a stream. Times are
/// nanoseconds, `start` and `end` from the beginning of the recording; memory is bytes, taken less
/// given back.
struct Event {
  std::string name;
  tracing::Kind kind = tracing::Kind::Operation;
  int thread = 0;  ///< the thread: 1 is the one that started the profile
  int64_t start = 0, end = 0;
  /// the device of the work, or the one that a copy goes to; the CPU by default
  Device device;
  Device from;         ///< the device that a copy comes from; the CPU by default
  int64_t stream = 0;  ///< the stream of the work; 0 by default
  int64_t bytes = 0;   ///< how many bytes a copy moves
  std::string shapes;  ///< "[[32, 64], [64]]", with record_shapes
  int parent = -1;  ///< index of the event around it, or that launched it; -1 by default
  int64_t launch_time = -1;  ///< when device work was launched, in nanoseconds
  int launch_thread = 0;

  int64_t self_cpu_time = 0;     ///< nanoseconds of the host without the events inside
  /// nanoseconds of device work launched by it and by the events inside
  int64_t device_time = 0;
  int64_t self_device_time = 0;  ///< nanoseconds of device work that it launched itself
  int64_t cpu_memory = 0, self_cpu_memory = 0;
  int64_t device_memory = 0, self_device_memory = 0;

  bool on_device() const { return kind == tracing::Kind::DeviceWork; }
  int64_t time() const { return end - start; }
};

/// A device's memory at a moment.
/// In bytes; the time is nanoseconds of the steady clock.
struct MemoryPoint {
  Device device;
  int64_t time = 0;
  int64_t allocated = 0, reserved = 0;
};

/// What a profile collected.
struct Events {
  std::vector<Event> events;  ///< of a thread, parents before children; device work last
  std::vector<MemoryPoint> memory;
  uint64_t dropped = 0;  ///< how many events had no room; 0 by default
};

/// Puts a recording in order. An operation allocates its results before it calls its kernel, so
/// memory that is taken outside of operations counts for the next operation or copy, if one follows
/// in the same parent.
Events arrange(const tracing::Recording& recording);

/// Sums over events of one name.
/// Times are nanoseconds, memory is bytes.
struct EventAverage {
  std::string key;
  bool on_device = false;  ///< whether it is a kernel, not what launched it; false by default
  std::string shapes;      ///< the shapes, if grouped by them; empty by default
  int64_t count = 0;
  int64_t cpu_time_total = 0, self_cpu_time_total = 0;  ///< nanoseconds
  int64_t device_time_total = 0, self_device_time_total = 0;
  int64_t cpu_memory_usage = 0, self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0, self_device_memory_usage = 0;

  int64_t cpu_time() const { return count ? cpu_time_total / count : 0; }
  int64_t device_time() const { return count ? device_time_total / count : 0; }
};

/// The rows of the profiler's table.
/// Times are nanoseconds, memory is bytes.
class EventAverages {
 public:
  /// `notes` are lines below the table.
  EventAverages(const Events& events, bool group_by_input_shape, bool with_memory,
                std::vector<std::string> notes);

  /// PyTorch's table. `sort_by`, largest first: "cpu_time_total", "self_cpu_time_total",
  /// "cuda_time_total", "self_cuda_time_total", "cpu_time", "cuda_time" (averages),
  /// "cpu_memory_usage", "self_cpu_memory_usage", "cuda_memory_usage", "self_cuda_memory_usage",
  /// "count"; empty for the order of their first appearance. "cuda" stands for the accelerators
  /// that were used, whatever their type. `row_limit` -1 is all. Throws ValueError for another
  /// `sort_by`.
  std::string table(const std::string& sort_by = "", int64_t row_limit = 100,
                    size_t max_name_column_width = 55) const;
  /// The rows as a JSON list: times in microseconds, memory in bytes.
  std::string to_json() const;

  const std::vector<EventAverage>& rows() const { return rows_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  size_t size() const { return rows_.size(); }

 private:
  std::vector<EventAverage> rows_;
  std::string device_name_;  ///< "CUDA", "SIM"; empty without accelerators
  int64_t cpu_total_ = 0, device_total_ = 0;
  bool with_shapes_, with_memory_;
  std::vector<std::string> notes_;
};

/// The trace that chrome://tracing and Perfetto open: spans by thread, device work by stream,
/// arrows from launches to the work, a counter of each device's memory.
std::string chrome_trace(const Events& events, const std::string& process_name);

}  // namespace taeda::profiler
