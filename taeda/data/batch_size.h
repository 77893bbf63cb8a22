// The largest batch that a device's memory holds, at least 1, found by trying.
#pragma once

#include <cstdint>
#include <functional>

#include "taeda/base/device.h"

namespace taeda::inline v0_2::data {

struct BatchSizeOptions {
  Device device;
  int64_t start = 1;
  int64_t max = int64_t{1} << 16;
};

/// Bytes are those of the device's live blocks.
struct BatchSizeReport {
  int64_t batch_size = 0;  ///< the largest number of examples that fits, at least 1
  bool limited = false;    ///< it is options.max: a larger one may fit
  int64_t peak_bytes = 0;  ///< the most bytes in use with that batch
  int64_t bytes_per_sample = 0;
  int64_t tries = 0;
};

/// Calls `step(batch_size)`, a whole training step, with doubling sizes from `start` until it
/// throws OutOfMemoryError or `max` is reached, then bisects between the last that fit and the
/// first that did not. Cached memory of the device type is given back before and after every try,
/// so that no try inherits the holes of another. The step's effects stay (updated parameters,
/// gradients, random numbers drawn): run it on a copy, or restore the state. Other exceptions pass.
/// Throws ValueError unless 1 <= start <= max; the OutOfMemoryError if not even one sample fits.
BatchSizeReport find_batch_size(const std::function<void(int64_t)>& step,
                                const BatchSizeOptions& options);

}  // namespace taeda::data
