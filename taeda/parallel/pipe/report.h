// What a pipeline's devices did in one step.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::nn {

/// In which order a stage takes its micro-batches; by default all forward first.
enum class PipeSchedule {
  GPipe,                  ///< all forward, then all backward (arXiv:1811.06965)
  OneForwardOneBackward,  ///< backward as soon as possible: stage s of S keeps the activations of
                          ///< S - s micro-batches instead of all (PipeDream-Flush,
                          ///< arXiv:2006.09503)
};
std::ostream& operator<<(std::ostream& out, PipeSchedule schedule);

/// Times of one step, by device events. Printing gives a table.
/// In milliseconds.
struct PipeReport {
  struct Stage {
    Device device;
    size_t modules = 0;
    double busy_ms = 0;   ///< milliseconds that the stage ran its modules; 0 by default
    double total_ms = 0;  ///< milliseconds from the beginning of the step to its last work
    int64_t kept = 0;     ///< the most micro-batches of which it held elements at the same time
  };
  PipeSchedule schedule = PipeSchedule::GPipe;
  int64_t micro_batches = 0;
  bool backward = false;  ///< whether it was a train step, else a forward pass; false by default
  std::vector<Stage> stages;

  /// The share of time that devices stand idle where all stages take equally long:
  /// (stages - 1) / (micro-batches + stages - 1).
  double ideal_bubble() const;
  /// The share that they did: 1 - the sum of busy times / (stages * the longest total time).
  double measured_bubble() const;
  std::string str() const;
};
std::ostream& operator<<(std::ostream& out, const PipeReport& report);

}  // namespace taeda::nn
