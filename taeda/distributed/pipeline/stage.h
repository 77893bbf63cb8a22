// A part of a model on one process.
#pragma once

#include <string>

#include "taeda/distributed/group/process_group.h"
#include "taeda/nn/any_module.h"

namespace taeda::inline v0_2::distributed::pipelining {

/// torch.distributed.pipelining.PipelineStage: stage `stage_index` of a model that is cut into
/// `num_stages`. With R processes in the group (by default the default group), stage i is on rank
/// i % R. The module's parameters are on `device`; it takes a tensor, or what the stage before it
/// returns: a vector of tensors, or a tuple of two or three as its only argument. It may be a
/// DistributedDataParallel of another group, with a tensor in and out: replicas' gradients are then
/// averaged once, while the last micro-batch goes back.
class PipelineStage {
 public:
  /// Throws ValueError for an index outside the pipeline, for a number of stages that is no
  /// multiple of the processes, and where this stage belongs to another process.
  PipelineStage(nn::AnyModule module, int stage_index, int num_stages, Device device,
                ProcessGroupPtr group = {});

  const nn::AnyModule& module() const { return module_; }
  int stage_index() const { return index_; }
  int num_stages() const { return count_; }
  Device device() const { return device_; }
  const ProcessGroupPtr& group() const { return group_; }
  bool is_first() const { return index_ == 0; }
  bool is_last() const { return index_ + 1 == count_; }
  /// The rank, in the group, of another stage's process.
  int rank_of(int stage) const { return stage % group_->size(); }
  /// "stage 1 on rank 1"
  std::string str() const;

 private:
  nn::AnyModule module_;
  int index_, count_;
  Device device_;
  ProcessGroupPtr group_;
};

}  // namespace taeda::distributed::pipelining
