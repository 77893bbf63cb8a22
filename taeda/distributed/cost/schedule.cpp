#include "taeda/distributed/cost/schedule.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/nn/pipe/schedule.h"

namespace taeda::inline v0_2::distributed::cost {

namespace {

/// Micro-batches go through a stage's parts in groups of as many as there are stages.
std::vector<PipelineAction> interleaved(size_t stage, size_t stages, size_t micro_batches,
                                        size_t parts) {
  const size_t total = micro_batches * parts, round = stages * parts;
  const auto action = [&](bool backward, size_t i) {
    const size_t chunk = i % round / stages;
    return PipelineAction{backward, i / round * stages + i % stages,
                          (backward ? parts - 1 - chunk : chunk) * stages + stage};
  };
  const size_t ahead = micro_batches == stages
                           ? total
                           : std::min(total, (stages - 1 - stage) * 2 + (parts - 1) * stages);
  std::vector<PipelineAction> out;
  for (size_t i = 0; i < ahead; ++i) out.push_back(action(false, i));
  for (size_t i = 0; i < total; ++i) {
    if (ahead + i < total) out.push_back(action(false, ahead + i));
    out.push_back(action(true, i));
  }
  return out;
}

}  // namespace

Schedule schedule_of_name(const std::string& name) {
  if (name == "gpipe") return Schedule::GPipe;
  if (name == "1f1b") return Schedule::OneForwardOneBackward;
  if (name == "interleaved") return Schedule::Interleaved;
  throw ValueError("schedule: expected gpipe, 1f1b or interleaved, got '" + name + "'");
}

std::vector<PipelineAction> pipeline_actions(Schedule schedule, size_t stage, size_t stages,
                                             size_t micro_batches, size_t parts_per_stage) {
  if (schedule == Schedule::Interleaved) {
    TAEDA_CHECK_VALUE(parts_per_stage > 1,
                      "an interleaved pipeline needs several parts on each device, got ",
                      parts_per_stage);
    TAEDA_CHECK_VALUE(micro_batches % stages == 0, "an interleaved pipeline of ", stages,
                      " stages needs a multiple of them as micro-batches, got ", micro_batches);
    return interleaved(stage, stages, micro_batches, parts_per_stage);
  }
  const auto order = schedule == Schedule::GPipe ? nn::PipeSchedule::GPipe
                                                 : nn::PipeSchedule::OneForwardOneBackward;
  std::vector<PipelineAction> out;
  for (const nn::detail::Action& a : nn::detail::actions_of(order, stage, stages, micro_batches))
    out.push_back({a.backward, a.micro_batch, stage});
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cost
