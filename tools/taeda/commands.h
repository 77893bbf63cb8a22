// The commands of the `taeda` tool, and what they throw.
#pragma once

#include <string>

#include "taeda/base/error.h"
#include "tools/taeda/train_fashion_mnist.h"

namespace taeda::tool {

/// Something the user must change: one line on stderr, exit code 2.
class UsageError : public Error {
  using Error::Error;
};

constexpr int kExitFailure = 1, kExitUsage = 2, kExitInterrupted = 130;

/// Checks everything that can be wrong with the options, the data and the output folder, then
/// trains.
int run_train_fashion_mnist(const TrainOptions& options);
/// A table of the devices that can be used.
int run_devices();
/// Version, compiler, and which optional parts are there.
int run_info();

}  // namespace taeda::tool
