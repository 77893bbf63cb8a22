// Which process updates which parameter, and how the others hear of it.
#pragma once

#include <utility>
#include <vector>

#include "taeda/distributed/group/process_group.h"
#include "taeda/nn/parallel/buckets.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::distributed {

/// What torch.distributed.optim.ZeroRedundancyOptimizer's keyword arguments are.
struct ZeroOptions {
  ProcessGroupPtr process_group = {};  ///< by default all processes
  /// Whether parameters become parts of the memory in which they travel, which saves copying them.
  bool parameters_as_bucket_view = false;
};

namespace detail {

using ParamGroups = std::vector<optim::OptimizerParamGroup>;

/// Takes gradients of parameters away for as long as it lives.
class HiddenGradients {
 public:
  explicit HiddenGradients(const std::vector<Tensor>& params);
  ~HiddenGradients();
  HiddenGradients(const HiddenGradients&) = delete;
  HiddenGradients& operator=(const HiddenGradients&) = delete;

 private:
  std::vector<std::pair<Tensor, Tensor>> hidden_;  ///< parameters and their gradients
};

/// Gives every parameter to one process: in each group the largest first, each to the process that
/// has the fewest elements so far. All processes decide alike. Parameters that are added later are
/// given out then; what was given stays.
class ZeroPartition {
 public:
  /// Throws ValueError where this process is not in the group.
  explicit ZeroPartition(ZeroOptions options);

  /// The process, in the group, that has the parameter with this number, counted through all
  /// groups.
  int owner(const ParamGroups& groups, size_t number);
  /// Gradients that the step of this process must not see.
  HiddenGradients hide_others(const ParamGroups& groups);
  /// Every process gets every parameter's value from the one that has it.
  void share(const ParamGroups& groups);
  /// On `to` the states of all processes, on the CPU; elsewhere what `own` has for its groups.
  optim::OptimizerState gather(const optim::OptimizerState& own, int to) const;
  /// The state without that of other processes' parameters.
  optim::OptimizerState own_part(const ParamGroups& groups, const optim::OptimizerState& state);

  int rank() const { return group_->rank(); }

 private:
  /// Parameters of one process that travel together.
  struct Bucket {
    int owner;
    std::vector<Tensor> params;
    nn::parallel::FlatLayout layout;
    Tensor flat;  ///< the memory of its parameters, if they live there
  };

  void give_out(const ParamGroups& groups);
  std::vector<std::vector<Tensor>> by_owner(const ParamGroups& groups);
  void make_buckets(const std::vector<std::vector<Tensor>>& params);
  bool up_to_date(const std::vector<std::vector<Tensor>>& params) const;
  void make_views(Bucket& bucket) const;
  WorkPtr start(const Bucket& bucket, Tensor& flat) const;
  void finish(const Bucket& bucket, const Tensor& flat) const;

  ProcessGroupPtr group_;
  bool views_;
  std::vector<std::vector<int>> owners_;  ///< by group and position
  std::vector<int64_t> elements_;         ///< of each process
  std::vector<Bucket> buckets_;
};

}  // namespace detail
}  // namespace taeda::distributed
