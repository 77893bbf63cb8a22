// How long real hardware would take for what a simulated device does.
//
// Note [Predicted time]
// With a cost model, every stream, every link and every thread of the host has a clock. Queuing
// work moves the host's clock by the launch latency and the stream's to
//
//     max(stream, host) + max(bytes / memory bandwidth, FLOP / peak of the dtype, shortest kernel);
//
// events carry their stream's clock, a stream that waits for one and a host that synchronises take
// the later of both. Nothing sleeps, and results and real timing are what they were. `elapsed_time`
// of events is then in predicted milliseconds. The clocks are moved where work is queued, so a
// prediction does not depend on how fast the simulation runs; only where threads compete for one
// link does it depend on who came first.
//
// The replay of a graph is one launch; its parts take what they cost when they were captured, and
// wait for what they waited for then.
//
// Not in the model: time that the host spends on anything but launches, kernels of several streams
// getting in each other's way, caches, and how near real kernels come to the peaks. It tells how
// programs compare and where they wait; absolute times are lower bounds.
#pragma once

#include <cstdint>
#include <string>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::sim {

/// A machine. Rates are per second, times in seconds; a rate of 0 costs nothing.
struct CostModel {
  std::string name;
  double memory_bandwidth = 0;  ///< bytes of tensors that kernels read and write
  double float64 = 0;           ///< floating-point operations of matrix products by dtype
  double float32 = 0;
  double half = 0;             ///< float16 and bfloat16
  double launch_latency = 0;   ///< of the host's thread, for each kernel and copy
  double shortest_kernel = 0;  ///< what a kernel takes at least
  double host_bandwidth = 0;   ///< between the host and one device, each way, pinned memory
  double pageable_bandwidth = 0;
  double host_latency = 0;
  double peer_bandwidth = 0;  ///< that one device can send, and receive
  double peer_latency = 0;
  double memory = 0;  ///< bytes that it has; for programs, the simulator has its own limit
};

/// "b200", "h200", "h100", "a100", "l40s", "rtx4090", "v100", "p100" or "t4", from the data sheets
/// named in sim/cost_presets.cpp; capital letters, blanks and dashes do not matter.
/// Throws ValueError for other names.
CostModel cost_model(const std::string& name);

/// The calling thread's predicted time in seconds. Synchronise first to include what is queued.
/// Only differences mean something.
double predicted_time();

/// What a device has been busy with since the process began, under cost models.
/// Times are seconds, memory is bytes.
struct PredictedUse {
  int64_t kernels = 0;
  double kernel_seconds = 0;  ///< summed over streams
  double flops = 0;           ///< of matrix products and convolutions
  int64_t copies = 0;
  int64_t copied_bytes = 0;
  double copy_seconds = 0;
};
PredictedUse predicted_use(Device device);

}  // namespace taeda::sim
