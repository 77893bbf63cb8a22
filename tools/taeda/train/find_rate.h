// `taeda train --find-lr`: which learning rate suits a network and its data.
#pragma once

#include "tools/taeda/train/task.h"

namespace taeda::tool {

/// Takes steps at rates that grow from 1e-7 to 10, each by the same factor, until the loss is four
/// times the lowest (Smith 2017, "Cyclical learning rates for training neural networks"). Shows the
/// losses over the rates, smoothed, and the rate at which they fall fastest. Writes nothing.
/// Returns the exit code.
int find_rate(const TrainOptions& options, Device device, const Task& task);

}  // namespace taeda::tool
