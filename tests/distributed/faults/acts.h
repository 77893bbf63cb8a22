// What happens to one rank of a FaultJob, in the middle of its steps.
#pragma once

#include <functional>

#include "tests/distributed/faults/job.h"

namespace taeda {

struct Act {
  std::function<void()> before = {};                   ///< the collectives of the step
  std::function<void()> backward = {};                 ///< while gradients are computed
  std::function<void()> during = {};                   ///< when all collectives are under way
  std::function<void()> checkpoint = {};               ///< before it is written
  std::function<FaultCase(FaultCase)> disagrees = {};  ///< what the rank calls instead
  bool nan_batch = false;
};

/// What TAEDA_TEST_FAULT means for a rank: nothing unless it is TAEDA_TEST_VICTIM.
Act act_of(int rank);

}  // namespace taeda
