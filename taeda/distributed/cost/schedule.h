// In which order the stages of a pipeline work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/parallel/pipe/schedule.h"

namespace taeda::inline v0_2::distributed::cost {

enum class Schedule {
  GPipe,
  OneForwardOneBackward,
  /// 1F1B over several parts of the model on each device: part c of device s is number c S + s of
  /// the model (Narayanan et al., "Efficient large-scale language model training on GPU clusters
  /// using Megatron-LM", SC 2021).
  Interleaved
};

/// "gpipe", "1f1b" or "interleaved". Throws ValueError for other names.
Schedule schedule_of_name(const std::string& name);

/// One micro-batch through one part of the model, which is `stage` there.
using PipelineAction = nn::detail::StageAction;

/// What stage `stage` of `stages` does with `micro_batches`, in order. `parts_per_stage` is 1 but
/// for Interleaved. The orders are those that processes of a pipeline follow. Throws ValueError
/// where Interleaved has one part per stage, or micro-batches that do not go in rounds of one size.
std::vector<PipelineAction> pipeline_actions(Schedule schedule, size_t stage, size_t stages,
                                             size_t micro_batches, size_t parts_per_stage);

}  // namespace taeda::inline v0_2::distributed::cost
