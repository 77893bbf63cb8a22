// The training program: loader, network, optimizer, schedule, loop, evaluation, checkpoints.
// Nothing in it depends on the task or on the device.
#pragma once

#include "tools/taeda/train/ranks.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

/// The checkpoint that --resume means; empty for a run from the start. Throws UsageError for one
/// that is not there.
std::string checkpoint_of(const TrainOptions& options);

/// Trains, from the checkpoint if there is one, reports on the way, and leaves checkpoint and
/// result in `options.out`. Returns the exit code: after Ctrl-C, SIGTERM or `--stop-after` a
/// checkpoint is written, it is said how to go on, and that code is 130. Throws UsageError for a
/// checkpoint of another run. Of several ranks, which all call this, one reports and writes.
int run_training(const TrainOptions& options, const std::string& checkpoint, Device device,
                 const Task& task, const Ranks& ranks);

}  // namespace taeda::tool
