// The order of work in a pipeline. Not part of the public interface.
#pragma once

#include <functional>
#include <vector>

#include "taeda/parallel/pipe/report.h"

namespace taeda::inline v0_2::nn::detail {

struct Action {
  bool backward;
  size_t micro_batch;
  friend bool operator==(const Action&, const Action&) = default;
};

/// What a stage does with `micro_batches`, in order.
std::vector<Action> actions_of(PipeSchedule schedule, size_t stage, size_t stages,
                               size_t micro_batches);

/// Calls `run(stage, action)` for the actions of all stages, each stage's in its order and each
/// action after those that it needs: forward after the forward of the stage before, backward after
/// the backward of the next. One thread is enough, because devices work behind it.
void run_schedule(PipeSchedule schedule, size_t stages, size_t micro_batches,
                  const std::function<void(size_t stage, const Action& action)>& run);

}  // namespace taeda::nn::detail
