// The base of all optimizers: parameter groups, per-parameter state, and a step of a rule.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/optim/options.h"
#include "taeda/optim/param_state.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// Parameters that share options. Options that are not named have the values of the optimizer's
/// defaults.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& o);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  /// The parameters of the group, in the order of the state dict; an empty group is allowed.
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  bool has_options() const { return options_ != nullptr; }
  /// Throws Error for a group without options that no optimizer took over yet.
  OptimizerOptions& options();
  const OptimizerOptions& options() const {
    return const_cast<OptimizerParamGroup*>(this)->options();
  }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  double get_lr() const { return options().get_lr(); }
  void set_lr(double lr) { options().set_lr(lr); }
  /// The learning rate that schedules start from: by default the one at the first call.
  double initial_lr() {
    if (!initial_lr_) initial_lr_ = get_lr();
    return *initial_lr_;
  }
  void set_initial_lr(double lr) { initial_lr_ = lr; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

/// Everything that a later run needs to go on: tensors such as "state.3.exp_avg", of the
/// parameters' shapes, and numbers such as "state.3.step" or "param_groups.0.lr". Parameters are
/// counted through all groups.
struct OptimizerState {
  std::string kind;  ///< "Adam"; empty in files of versions that did not write it
  OrderedDict<std::string, Tensor> tensors;
  OrderedDict<std::string, double> numbers;
};

struct Rule;
class RuleStep;

class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  /// Throws ValueError for an empty parameter list, a tensor that is no leaf, or a parameter that
  /// appears twice.
  Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient. `closure`, if given, is called first, with
  /// gradients enabled, and its loss is returned. A step that is captured into a graph counts at
  /// every replay, with the learning rate of then; other numbers stay what they were.
  ///
  /// State stays as it was made when a parameter changes its dtype, device or shape (`net->to`,
  /// `set_data`): the step is then an Error that names parameter and state, and changes nothing.
  /// `load_state_dict(state_dict())` brings state to the parameters' dtype and device.
  virtual Tensor step(LossClosure closure = nullptr);
  /// During a capture: a step that changes nothing, and does not count, in replays where the first
  /// of two float64 numbers on the device is not 0. The second says how many steps that came to;
  /// the optimizer sets it back to 0 when it has taken note. What amp::GradScaler calls.
  void step_unless(const Tensor& skip);
  /// Drops the gradients of all parameters, the default, or fills them with zeros in place.
  void zero_grad(bool set_to_none = true);

  /// What the group's options do not name it gets from the defaults. Throws ValueError for a
  /// parameter that is in a group or no leaf.
  void add_param_group(OptimizerParamGroup group);
  /// A group with the default options.
  void add_parameters(const std::vector<Tensor>& params) {
    add_param_group(OptimizerParamGroup(params));
  }
  std::vector<OptimizerParamGroup>& param_groups() { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const { return param_groups_; }
  OptimizerOptions& defaults() { return *defaults_; }
  const OptimizerOptions& defaults() const { return *defaults_; }
  /// The parameters of all groups, in order; what is empty gives an empty list or 0.
  std::vector<Tensor> parameters() const;
  size_t size() const;
  /// What is kept for a parameter. Throws Error for a tensor that this optimizer does not hold.
  const ParamState& state(const Tensor& param) const;
  /// The states of all parameters that have made a step; empty before the first one.
  ParamStateMap& state();
  const ParamStateMap& state() const;

  virtual OptimizerState state_dict() const;
  /// Tensors move to their parameters' device, dtype and memory order. Throws ValueError, and
  /// changes nothing, for the state of an optimizer of another class, groups that differ in number
  /// or size, names that this optimizer does not have, state that lacks a tensor, tensors of other
  /// shapes or not of floating dtype, and options that the optimizer cannot work with.
  virtual void load_state_dict(const OptimizerState& state);
  /// Writes the state dict to an archive, and takes over the one in an archive; one that does not
  /// fit is an Error, and nothing changes.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  // An optimizer of a program may override step() alone, and work on what follows.

  std::vector<OptimizerParamGroup> param_groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  mutable ParamStateMap state_;  // counts of steps change when they are asked for

  /// What a step does; nullptr for optimizers of programs.
  virtual const Rule* rule() const { return nullptr; }
  /// The class, as it stands in state dicts and errors: "Adam".
  virtual const char* kind() const;
  /// A state of the optimizer's class.
  virtual std::unique_ptr<OptimizerParamState> make_param_state() const;
  /// Names of the tensors in ParamState, at most ParamState::kMaxTensors.
  virtual ArrayRef<const char*> state_names() const { return {}; }
  /// Names of the numbers in ParamState, at most ParamState::kMaxNumbers.
  virtual ArrayRef<const char*> number_names() const;
  /// How many of the tensors, from the first on, a parameter has after its first step with any
  /// options.
  virtual size_t lasting_states() const;
  /// The shape of the k-th state, the parameter's unless the optimizer says otherwise; nothing
  /// where this parameter has no such state.
  virtual std::optional<DimVector> state_sizes(size_t k, const Tensor& param) const;

  /// The closure's loss, with gradients enabled; undefined without a closure.
  static Tensor evaluate(const LossClosure& closure);
  /// The state of a parameter, made if there is none yet.
  ParamState& state_of(const Tensor& param) const;
  /// The state of a parameter, or an empty one.
  const ParamState& known_state(const Tensor& param) const;
  /// An uninitialised tensor with the parameter's sizes, strides, dtype and device.
  static Tensor empty_for(const Tensor& param);

 private:
  void lend_group(const Rule& rule, size_t group);
  void take_back();
  void replay_at_captures(const Rule& rule);
  void bring_up_to_date() const;
  void check_names(const OptimizerState& state) const;
  std::unique_ptr<OptimizerOptions> loaded_options(const OptimizerState& state, size_t group) const;
  ParamState loaded_param(const OptimizerState& state, const std::string& prefix,
                          const Tensor& param) const;

  /// Steps of captured parameters that only the device knows to have been left out.
  struct Skippable {
    Tensor skip;
    /// Group and position; the state's numbers before the last replay.
    std::map<std::pair<size_t, size_t>, std::array<double, ParamState::kMaxNumbers>> params;
  };
  Skippable& skippable(const Tensor& skip);

  std::shared_ptr<int> alive_ = std::make_shared<int>();  // ends with the optimizer
  std::vector<Skippable> skippable_;
  Tensor skip_;                        // of the step that is being captured
  std::unique_ptr<RuleStep> planned_;  // reused from step to step
};

/// The base of the library's optimizers: a rule (rule.h), options, and the class of a parameter's
/// state. An empty list of parameters is a ValueError.
template <class Options, class State, const Rule& kRule>
class RuleOptimizer : public Optimizer {
 public:
  RuleOptimizer(std::vector<OptimizerParamGroup> groups, Options defaults = {})
      : Optimizer(std::move(groups), defaults.clone()) {}
  RuleOptimizer(std::vector<Tensor> params, Options defaults = {})
      : Optimizer(std::move(params), defaults.clone()) {}

 private:
  const Rule* rule() const override { return &kRule; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new State);
  }
  ArrayRef<const char*> state_names() const override { return State::kNames; }
};

}  // namespace taeda::inline v0_2::optim
