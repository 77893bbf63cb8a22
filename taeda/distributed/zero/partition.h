// Which process updates which parameter, and how the others hear of it.
#pragma once

#include <vector>

#include "taeda/distributed/group/process_group.h"
#include "taeda/distributed/join.h"
#include "taeda/optim/optimizer.h"
#include "taeda/parallel/buckets.h"

namespace taeda::inline v0_2::distributed {

/// Options of ZeroRedundancyOptimizer, with the defaults of
/// torch.distributed.optim.ZeroRedundancyOptimizer.
struct ZeroOptions {
  ProcessGroupPtr process_group = {};  ///< by default all processes
  /// Whether parameters become parts of the memory in which they travel, which saves copying them.
  bool parameters_as_bucket_view = false;
};

namespace detail {

using ParamGroups = std::vector<optim::OptimizerParamGroup>;

/// Gives parameters other gradients, or none, for as long as it lives.
class OtherGradients {
 public:
  explicit OtherGradients(std::vector<Tensor> params, std::vector<Tensor> gradients);
  ~OtherGradients();
  OtherGradients(const OtherGradients&) = delete;
  OtherGradients& operator=(const OtherGradients&) = delete;

 private:
  void exchange();
  std::vector<Tensor> params_, gradients_;
};

/// What a process whose loop is over steps with: for as long as it lives, the gradients and the
/// options of one that had a batch, and no gradients of parameters that others update.
class LentStep {
 public:
  /// `numbers`: those of all groups' options, one after the other.
  LentStep(ParamGroups& groups, std::vector<double> numbers, std::vector<Tensor> params,
           std::vector<Tensor> gradients);
  ~LentStep();
  LentStep(const LentStep&) = delete;
  LentStep& operator=(const LentStep&) = delete;

 private:
  void exchange_numbers();
  ParamGroups& groups_;
  std::vector<double> numbers_;
  OtherGradients gradients_;
};

/// Gives parameters with so many elements each to processes, which have `elements` so far: the
/// largest first, each to the one that has fewest. The process of each parameter.
std::vector<int> give_out(ArrayRef<int64_t> params, std::vector<int64_t>& elements);

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
  OtherGradients hide_others(const ParamGroups& groups);
  /// In a turn of a join, on a process that has a batch: the last such process sends gradients and
  /// options to those that have none.
  void lend(const ParamGroups& groups, const JoinTurn& turn);
  /// On a process that has none: what it is sent.
  LentStep borrow(ParamGroups& groups, const JoinTurn& turn);
  /// Every process gets every parameter's value from the one that has it.
  void share(const ParamGroups& groups);
  /// On `to` the states of all processes, on the CPU; elsewhere what `own` has for its groups.
  optim::OptimizerState gather(const optim::OptimizerState& own, int to) const;
  /// The state without that of other processes' parameters.
  optim::OptimizerState own_part(const ParamGroups& groups, const optim::OptimizerState& state);

  int rank() const { return group_->rank(); }
  const ProcessGroupPtr& group() const { return group_; }
  /// Where numbers for the group are.
  Device device(const ParamGroups& groups) const;

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
  std::vector<Tensor> others_parameters(const ParamGroups& groups);
  void bring_up_to_date(const ParamGroups& groups);
  std::vector<const Bucket*> buckets_of(int owner) const;
  void lend_to(int to, const ParamGroups& groups);
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
}  // namespace taeda::inline v0_2::distributed
