// An optimizer whose state is spread over processes: ZeRO's first stage (Rajbhandari et al. 2020,
// arXiv:1910.02054).
//
//     ZeroRedundancyOptimizer<optim::Adam> optimizer(model->parameters(),
//     optim::AdamOptions(1e-3));
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "taeda/distributed/zero/partition.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed {

/// torch.distributed.optim.ZeroRedundancyOptimizer around any optimizer: each process of a group
/// keeps the state of a share of the parameters, updates them, and sends them to the others. The
/// numbers are those of the plain optimizer, bit for bit, if gradients are the same in all
/// processes, as after DistributedDataParallel's backward. Parameter groups, schedules, closures
/// and gradient scalers work as with the plain one; all processes do the same with it, or name it
/// in a `join`.
///
/// Parameters are counted as in the plain optimizer, so either's state can be loaded into the
/// other.
template <std::derived_from<optim::Optimizer> Base>
class ZeroRedundancyOptimizer final : public Base, public Joinable {
 public:
  /// `params` (tensors or groups) and `defaults` are those of `Base`.
  template <class Params, class Defaults>
  ZeroRedundancyOptimizer(Params params, Defaults defaults, ZeroOptions options = {})
      : Base(std::move(params), std::move(defaults)), partition_(std::move(options)) {}

  Tensor step(optim::Optimizer::LossClosure closure = nullptr) override {
    Tensor loss;
    if (closure) {
      const AutoGradMode recording(true);
      loss = closure();
    }
    consolidated_.reset();
    if (const auto turn = this->take_turn()) partition_.lend(this->param_groups(), *turn);
    {
      const detail::OtherGradients others = partition_.hide_others(this->param_groups());
      Base::step();
    }
    partition_.share(this->param_groups());
    return loss;
  }

  /// Brings the states of all processes to the one with rank `to` in the group, on the CPU.
  void consolidate_state_dict(int to = 0) {
    optim::OptimizerState all = partition_.gather(local_state_dict(), to);
    if (partition_.rank() == to) consolidated_ = std::move(all);
  }
  /// The state of all parameters. Throws Error unless it was consolidated here since the last step.
  optim::OptimizerState state_dict() const override {
    TAEDA_CHECK(consolidated_,
                "Optimizer state has not been consolidated on this rank. Please call "
                "`consolidate_state_dict(to=",
                partition_.rank(),
                ")` on all ranks beforehand if you meant to save the global state.");
    return *consolidated_;
  }
  /// The state of this process's parameters: what a checkpoint of each process needs.
  optim::OptimizerState local_state_dict() const { return Base::state_dict(); }
  /// A state of all parameters, or of this process's; others' is not kept.
  void load_state_dict(const optim::OptimizerState& state) override {
    Base::load_state_dict(partition_.own_part(this->param_groups(), state));
    consolidated_.reset();
  }

  /// The process, in the group, that keeps the state of the parameter with this number, counted
  /// through all groups. Throws ValueError where there is none.
  int owner(size_t number) { return partition_.owner(this->param_groups(), number); }

 private:
  const ProcessGroupPtr& join_group() const override { return partition_.group(); }
  Device join_device() const override { return partition_.device(this->param_groups()); }
  std::string join_name() const override { return "ZeroRedundancyOptimizer"; }
  void stand_in(const JoinTurn& turn) override {
    consolidated_.reset();
    {
      const detail::LentStep lent = partition_.borrow(this->param_groups(), turn);
      Base::step();
    }
    partition_.share(this->param_groups());
  }

  detail::ZeroPartition partition_;
  std::optional<optim::OptimizerState> consolidated_;
};

}  // namespace taeda::distributed
