// `taeda train --nproc`: the command again, once for each rank, watched by the one that was called.
#pragma once

#include <functional>

#include "tools/taeda/train/options.h"

namespace taeda::tool {

/// Starts `options.nproc` processes of this command line on this machine and waits for them. Ctrl-C
/// and SIGTERM are passed on, so that they stop together; a second one ends them at once. Returns
/// the leading rank's exit code. Throws the error of the first rank to fail, with its number, when
/// the others have ended, too; UsageError where an engine is missing. They die with this process.
int train_in_processes(const TrainOptions& options);

/// In such a process: runs `train`, and tells the process that started it of an error. Elsewhere
/// just runs it.
int as_rank(const std::function<int()>& train);

}  // namespace taeda::tool
