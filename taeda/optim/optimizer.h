// The base of all optimizers: parameter groups, per-parameter state, and a step of a rule.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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

/// Groups of parameters for an optimizer, whose options may be named in braces:
/// {{body, {.lr = 1e-4}}, {head}}.
template <class Options>
struct OptimizerGroups {
  struct Group : OptimizerParamGroup {
    Group(std::vector<Tensor> params) : OptimizerParamGroup(std::move(params)) {}
    Group(std::vector<Tensor> params, typename Options::Config options)
        : Group(std::move(params), std::make_unique<Options>(std::move(options))) {}
    template <std::derived_from<OptimizerOptions> Own>
    Group(std::vector<Tensor> params, std::unique_ptr<Own> options)
        : OptimizerParamGroup(std::move(params), std::move(options)) {}
    Group(OptimizerParamGroup group) : OptimizerParamGroup(std::move(group)) {}
  };

  OptimizerGroups() = default;
  OptimizerGroups(std::vector<OptimizerParamGroup> given) : groups(std::move(given)) {}
  OptimizerGroups(std::initializer_list<Group> given) : groups(given.begin(), given.end()) {}

  std::vector<OptimizerParamGroup> groups;
};

/// Parameters, or groups of them.
template <class Options>
struct OptimizerParams : OptimizerGroups<Options> {
  using OptimizerGroups<Options>::OptimizerGroups;
  OptimizerParams() = default;
  OptimizerParams(std::vector<Tensor> params) {
    this->groups.push_back(OptimizerParamGroup(std::move(params)));
  }
  OptimizerParams(std::initializer_list<Tensor> params)
      : OptimizerParams(std::vector<Tensor>(params)) {}
};

/// The base of optimizers with options of the library's: a struct, which may be named in braces,
/// or the learning rate alone. An empty list of parameters is a ValueError.
template <class Options>
class ConfiguredOptimizer : public Optimizer {
 public:
  using Config = typename Options::Config;
  ConfiguredOptimizer(OptimizerParams<Options> params, Config options)
      : Optimizer(std::move(params.groups), std::make_unique<Options>(std::move(options))) {}
  template <class Rate>
  requires std::is_arithmetic_v<Rate> ConfiguredOptimizer(OptimizerParams<Options> params, Rate lr)
      : ConfiguredOptimizer(std::move(params), Options(static_cast<double>(lr))) {}
  // Not OptimizerParams: Adam({params}) could then be the copy of an Adam made of params.
  explicit ConfiguredOptimizer(std::vector<Tensor> params)
      : ConfiguredOptimizer(std::move(params), Config()) {}
  explicit ConfiguredOptimizer(OptimizerGroups<Options> groups)
      : ConfiguredOptimizer(std::move(groups.groups), Config()) {}
};

/// The base of the library's optimizers: options with a rule (rule.h), and the class of a
/// parameter's state.
template <class Options, class State>
class RuleOptimizer : public ConfiguredOptimizer<Options> {
 public:
  using ConfiguredOptimizer<Options>::ConfiguredOptimizer;

 private:
  const Rule* rule() const override { return &Options::kRule; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new State);
  }
  ArrayRef<const char*> state_names() const override { return State::kNames; }
};

}  // namespace taeda::inline v0_2::optim
