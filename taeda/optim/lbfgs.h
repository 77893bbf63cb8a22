// L-BFGS.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "taeda/base/arg.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The fields of its options; LBFGS does without the steps of rules.
extern const Rule lbfgs_rule;

/// Options of LBFGS; a number out of its range is a ValueError, another search an Error.
struct LBFGSConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1};
  /// The most iterations of one step; 20 by default.
  Setting<int64_t> max_iter{usual, 20};
  /// Evaluations of the closure in one step; max_iter * 5 / 4 by default.
  Setting<std::optional<int64_t>> max_eval{usual};
  /// Where no element of the gradient is larger, the step ends.
  Setting<double> tolerance_grad{usual, 1e-7};
  /// A step ends where no parameter, nor the loss, changes by more than this number; 1e-9 by
  /// default.
  Setting<double> tolerance_change{usual, 1e-9};
  /// How many changes of the gradient are kept; 100 by default.
  Setting<int64_t> history_size{usual, 100};
  /// "strong_wolfe" for a line search; without a value, the default, steps have the fixed size lr.
  /// Another name is an Error.
  Setting<std::optional<std::string>> line_search_fn{usual};
};

/// The same for programs written for libtorch.
class LBFGSOptions : public RuleOptions<LBFGSOptions, LBFGSConfig, lbfgs_rule> {
 public:
  using RuleOptions::RuleOptions;
  TAEDA_OPTION(lr)
  TAEDA_OPTION(max_iter)
  TAEDA_OPTION(max_eval)
  TAEDA_OPTION(tolerance_grad)
  TAEDA_OPTION(tolerance_change) TAEDA_OPTION(history_size) TAEDA_OPTION(line_search_fn)
};

/// State of LBFGS, which it keeps for its first parameter: vectors with the elements of all
/// parameters, and numbers.
class LBFGSParamState final : public OptimizerCloneableParamState<LBFGSParamState> {
 public:
  LBFGSParamState();
  LBFGSParamState(const LBFGSParamState& other);
  LBFGSParamState& operator=(const LBFGSParamState& other);
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  TAEDA_ARG(int64_t, func_evals) = 0;
  TAEDA_ARG(int64_t, n_iter) = 0;
  TAEDA_ARG(double, t) = 0;
  TAEDA_ARG(double, prev_loss) = 0;
  TAEDA_ARG(Tensor, d) = {};
  TAEDA_ARG(Tensor, H_diag) = {};
  TAEDA_ARG(Tensor, prev_flat_grad) = {};

 public:
  /// Changes of the gradient and of the parameters, vectors of all elements, the newest last; then
  /// what follows from them, and the loss.
  LBFGSParamState& old_dirs(std::deque<Tensor> value);
  const std::deque<Tensor>& old_dirs() const noexcept { return old_dirs_; }
  std::deque<Tensor>& old_dirs() noexcept { return old_dirs_; }
  LBFGSParamState& old_stps(std::deque<Tensor> value);
  const std::deque<Tensor>& old_stps() const noexcept { return old_stps_; }
  std::deque<Tensor>& old_stps() noexcept { return old_stps_; }
  LBFGSParamState& ro(std::deque<Tensor> value);
  const std::deque<Tensor>& ro() const noexcept { return ro_; }
  std::deque<Tensor>& ro() noexcept { return ro_; }
  TAEDA_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;

 private:
  std::deque<Tensor> old_dirs_, old_stps_, ro_;
};

/// A step of L-BFGS over parameters of one dtype and device, complex ones as pairs of reals: moves
/// them and writes down how far it is. `loss` is the loss where they are, whose gradients they
/// have; `evaluate` gives it anew, and the gradients, where they were moved to. What it throws
/// leaves parameters and state as they were. `maximize`: the other way.
void lbfgs_step(const LBFGSConfig& options, LBFGSParamState& state,
                const std::vector<Tensor>& params, double loss,
                const std::function<double()>& evaluate, bool maximize = false);

/// Limited-memory BFGS (Nocedal 1980; Liu and Nocedal 1989) in PyTorch's order of operations.
/// step() takes a closure that clears the gradients, computes the loss and calls backward; it
/// calls the closure several times. One group of parameters, which has the same dtype and device.
class LBFGS : public ConfiguredOptimizer<LBFGSOptions> {
 public:
  /// Throws ValueError for more than one group.
  using ConfiguredOptimizer::ConfiguredOptimizer;

  /// The loss before the step. Throws Error without a closure.
  Tensor step(LossClosure closure) override;
  /// Groups as other optimizers', and "state.d", "state.old_dirs.0", ..., "state.n_iter".
  OptimizerState state_dict() const override;
  void load_state_dict(const OptimizerState& state) override;

 private:
  const char* kind() const override { return "LBFGS"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new LBFGSParamState);
  }
  LBFGSParamState& history() const;
  bool check_groups() const;

  const bool is_one_group_ = check_groups();  // of each constructor that is inherited
};

}  // namespace taeda::inline v0_2::optim
