// Graphs: work that is recorded once and then queued again as a whole, without the host's part of
// it. What programs call is in cuda.h and sim.h: CUDAGraph and graph.
//
// On the CPU the calling thread's work is recorded, and a replay is over when the call returns:
// Note [Graphs on the CPU] in host_graph.h.
//
// A graph replays addresses. What it reads and writes must stay alive and in place: copy new inputs
// into the tensors that were captured. What it allocates comes from a pool of its own. Before a
// capture, the same work should have run a few times on a stream other than the default one, so
// that libraries are loaded, algorithms chosen and gradients and optimizer states made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "taeda/device/allocator.h"
#include "taeda/device/generator.h"
#include "taeda/device/stream.h"

namespace taeda::inline v0_2 {

/// Numbers in device memory that belong to a graph: the host fills them in before every replay, and
/// the graph's kernels read them. Only `graph_numbers` makes them.
/// Doubles, eight bytes each.
class GraphNumbers {
 public:
  Device device() const { return device_; }
  double* data() const { return data_; }
  size_t count() const { return count_; }

 private:
  friend GraphNumbers graph_numbers(Device, size_t, std::function<void(double*)>);
  GraphNumbers(Device device, double* data, size_t count)
      : device_(device), data_(data), count_(count) {}
  Device device_;
  double* data_;
  size_t count_;
};

/// What streams of one device queued between `begin` and `end`, to be queued again as a whole.
class DeviceGraph {
 public:
  /// A graph of work on the device of that type which is current when the capture begins.
  explicit DeviceGraph(DeviceType type);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;

  /// From here on the current stream's work is recorded. `pool` is one of `graph_pool_handle` or of
  /// another graph that is never replayed at the same time; 0 makes a new one. The device's default
  /// generator is registered. Throws Error on a default stream of an accelerator, or for a second
  /// capture.
  void capture_begin(allocator::PoolId pool = 0, CaptureMode mode = CaptureMode::Global);
  /// Throws Error if something was asked for that cannot be recorded; nothing is owned then.
  void capture_end();
  /// Queues the work on the current stream; on the CPU, does it. Registered generators step on as
  /// if it had run eagerly. Throws Error without a captured graph.
  void replay();
  /// Waits for the device and gives up graph and pool. A new capture may follow.
  void reset();
  /// Throws Error without a captured graph.
  allocator::PoolId pool() const;
  /// Has random operations with this generator draw new numbers at every replay. Throws Error
  /// while a capture is under way, or for a generator of another type of device.
  void register_generator_state(const Generator& generator);
  /// Allows `debug_dump`.
  void enable_debug_mode();
  /// Writes the graph in the language of Graphviz. Throws Error without debug mode or graph.
  void debug_dump(const std::string& path) const;

  /// The type of the device that it was captured on.
  DeviceType type() const;

 private:
  friend class GraphCapture;
  friend GraphNumbers graph_numbers(Device, size_t, std::function<void(double*)>);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Captures a scope's work: waits for the device, empties the cache, makes a stream of the pool (or
/// the given one) current, and begins. `end`, or the end of the scope, ends it; an error that only
/// the end of the scope meets is thrown by the graph's `replay`.
class GraphCapture {
 public:
  explicit GraphCapture(DeviceGraph& graph, allocator::PoolId pool = 0,
                        std::optional<Stream> stream = std::nullopt,
                        CaptureMode mode = CaptureMode::Global);
  ~GraphCapture();
  GraphCapture(const GraphCapture&) = delete;
  GraphCapture& operator=(const GraphCapture&) = delete;
  void end();

 private:
  DeviceGraph& graph_;
  std::optional<StreamGuard> guard_;
};

/// Graphs that are being captured in this process: 0 most of the time, and then nothing else needs
/// to be asked.
int captures_under_way();
/// Whether the calling thread's current stream on the device is being captured.
bool is_current_stream_capturing(Device device);

/// During a capture on `device`: memory for `count` numbers that the captured kernels read. Before
/// every replay `fill` writes the next ones, which reach the device in stream order.
GraphNumbers graph_numbers(Device device, size_t count, std::function<void(double*)> fill);

}  // namespace taeda::inline v0_2
