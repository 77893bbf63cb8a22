// A small training job that something happens to: three processes, a checkpoint after every step,
// and in each step ten collectives at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/distributed/group/process_group.h"

namespace taeda {

/// One of the collectives that a step of the job consists of.
struct FaultCase {
  const char* op;
  int64_t count;  ///< of float32 that a rank contributes

  /// Also the name of the case's group: every case has its own, so that ten faults cost one job.
  std::string name() const { return std::string(op) + "_of_" + std::to_string(count); }
  /// Starts it with `value` as contribution; `out` is for its result.
  distributed::WorkPtr start(distributed::ProcessGroup& group, float value, Tensor* out) const;
  /// What the result must hold, in equal parts, if rank r contributes values[r].
  std::vector<float> expected(const std::vector<float>& values) const;
};

/// Five collectives, each with few elements and with many.
const std::vector<FaultCase>& fault_cases();

inline constexpr int kFaultJobRanks = 3;

/// The line that a rank prints when all steps are done and nothing has gone wrong.
std::string state_after_all_steps(int nan_from_rank = -1);

}  // namespace taeda
