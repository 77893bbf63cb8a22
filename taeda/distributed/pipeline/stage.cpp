#include "taeda/distributed/pipeline/stage.h"

#include "taeda/base/error.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/group/collectives.h"

namespace taeda::inline v0_2::distributed::pipelining {

PipelineStage::PipelineStage(nn::AnyModule module, int stage_index, int num_stages, Device device,
                             ProcessGroupPtr group)
    : module_(std::move(module)),
      index_(stage_index),
      count_(num_stages),
      device_(resolve(device)),
      group_(group ? std::move(group) : default_group()) {
  TAEDA_CHECK_VALUE(!module_.is_empty(), "PipelineStage: there is no module");
  TAEDA_CHECK_VALUE(index_ >= 0 && index_ < count_, "Stage index ", index_, " is out of range of ",
                    count_);
  TAEDA_CHECK_VALUE(group_->is_member(), "PipelineStage: this process is not in group '",
                    group_->name(), "'");
  TAEDA_CHECK_VALUE(count_ % group_->size() == 0, "PipelineStage: ", count_,
                    " stages cannot be divided among ", group_->size(),
                    " processes: expected a multiple of their number");
  TAEDA_CHECK_VALUE(rank_of(index_) == group_->rank(), "PipelineStage: stage ", index_, " of ",
                    count_, " belongs to rank ", rank_of(index_), ", this is rank ",
                    group_->rank());
}

std::string PipelineStage::str() const {
  return taeda::detail::concat("stage ", index_, " on rank ", rank_of(index_));
}

}  // namespace taeda::distributed::pipelining
