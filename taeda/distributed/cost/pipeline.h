// A step of a pipeline, and of several beside each other, event by event.
#pragma once

#include <functional>
#include <vector>

#include "taeda/distributed/cost/data_parallel.h"
#include "taeda/distributed/cost/schedule.h"

namespace taeda::inline v0_2::distributed::cost {

/// What one micro-batch takes in one part of the model.
struct PartCost {
  double forward = 0, backward = 0;  ///< seconds
  int64_t kept_bytes = 0;            ///< from forward to backward
};

struct PipelineRun {
  double seconds = 0;                 ///< until the last device is done
  std::vector<double> busy, done;     ///< by device: seconds of work, and when it is over
  std::vector<double> last_backward;  ///< by part: when that of its last micro-batch begins
  std::vector<int64_t> kept_bytes;    ///< by device: the most that it keeps at once
  /// The share of the time in which devices stand idle.
  double bubble() const;
};

/// Runs the schedule: each device does what is next in its order as soon as its input is there.
/// Part i runs on device i % stages; `send(i)` is how long a tensor takes between parts i and i +
/// 1, either way. Copies do not hold up what computes. Throws ValueError unless parts are a
/// multiple of the stages, and where pipeline_actions does.
PipelineRun run_pipeline(const std::vector<PartCost>& parts, size_t stages, size_t micro_batches,
                         Schedule schedule, const std::function<double(size_t)>& send);

struct PipelineOptions {
  int64_t stages = 1, micro_batches = 1;
  Schedule schedule = Schedule::OneForwardOneBackward;
  int64_t parts_per_stage = 1;
  nn::parallel::BucketLimits limits = nn::parallel::kGradientLimits;
};

struct PipelineStep {
  double seconds = 0;
  double bubble = 0;
  double exposed = 0;       ///< seconds of all_reduce after the last device's last backward
  double bytes = 0;         ///< that the busiest device sends
  int64_t memory = 0;       ///< bytes of the device that needs most
  double one_device = 0;    ///< seconds that one device would take for a pipeline's work
  double largest_part = 0;  ///< share of the largest stage in the work of all, times the stages
};

/// Pipelines of `stages` devices beside each other on `devices`, each with other data; gradients of
/// a stage are averaged over them while its last backward goes on. Devices that have the same stage
/// are neighbours. `step` is that of one micro-batch. The model is cut where that makes the largest
/// part smallest. Throws ValueError unless stages divide the devices and the model has enough
/// parts.
PipelineStep pipeline_step(const MeasuredStep& step, int64_t devices, const Network& network,
                           const PipelineOptions& options);

}  // namespace taeda::inline v0_2::distributed::cost
