#include "taeda/distributed/cost/schedule.h"

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cost {

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
    return nn::detail::interleaved_order_of(stage, stages, parts_per_stage, micro_batches);
  }
  return nn::detail::order_of(schedule == Schedule::GPipe ? nn::PipeSchedule::GPipe
                                                          : nn::PipeSchedule::OneForwardOneBackward,
                              stage, stages, micro_batches);
}

}  // namespace taeda::inline v0_2::distributed::cost
