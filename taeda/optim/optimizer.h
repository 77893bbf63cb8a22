// The base of all optimizers: parameter groups, per-parameter state, and the step that hands whole
// groups to one kernel call.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/kernels/param_list.h"
#include "taeda/optim/options.h"
#include "taeda/optim/param_state.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// Parameters that share options. Options left out, all or those that are not named, are the
/// optimizer's.
class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup(const OptimizerParamGroup& o);
  OptimizerParamGroup(OptimizerParamGroup&&) noexcept;
  ~OptimizerParamGroup();

  /// The parameters of the group, in the order of the state dict.
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
  /// The learning rate that schedules start from: the one at the first call.
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

/// Everything that a later run needs to go on: tensors such as "state.3.exp_avg" and numbers such
/// as "state.3.step" or "param_groups.0.lr". Parameters are counted through all groups.
struct OptimizerState {
  std::string kind;  ///< "Adam"; empty in files of versions that did not write it
  OrderedDict<std::string, Tensor> tensors;
  OrderedDict<std::string, double> numbers;
};

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
  /// Drops the gradients, or zeroes them in place.
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
  /// The parameters of all groups, in order.
  std::vector<Tensor> parameters() const;
  size_t size() const;
  /// What is kept for a parameter. Throws Error for a tensor that this optimizer does not hold.
  const ParamState& state(const Tensor& param) const;
  /// The states of all parameters that have made a step.
  ParamStateMap& state();
  const ParamStateMap& state() const;

  virtual OptimizerState state_dict() const;
  /// Tensors move to their parameters' device, dtype and memory order. Throws ValueError, and
  /// changes nothing, for the state of an optimizer of another class, groups that differ in number
  /// or size, names that this optimizer does not have, state that lacks a tensor, tensors of other
  /// shapes or not of floating dtype, and options that the optimizer cannot work with.
  virtual void load_state_dict(const OptimizerState& state);
  /// Writes the state dict to an archive, and takes over the one in an archive.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

 protected:
  // An optimizer of a program may override step() alone, and work on what follows.

  std::vector<OptimizerParamGroup> param_groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  mutable ParamStateMap state_;  // counts of steps change when they are asked for

  /// The class, as it stands in state dicts and errors: "Adam".
  virtual const char* kind() const { return "Optimizer"; }
  /// A state of the optimizer's class.
  virtual std::unique_ptr<OptimizerParamState> make_param_state() const;
  /// Names of the tensors in ParamState, at most ParamState::kMaxTensors.
  virtual ArrayRef<const char*> state_names() const { return {}; }
  /// Names of the numbers in ParamState, at most ParamState::kMaxNumbers.
  virtual ArrayRef<const char*> number_names() const { return {}; }
  /// How many of the tensors, from the first on, a parameter has after its first step with any
  /// options.
  virtual size_t lasting_states() const { return 0; }
  /// Whether a step with these options works on the k-th state.
  virtual bool wants_state(const OptimizerOptions&, size_t) const { return false; }
  /// The shape of the k-th state, the parameter's unless the optimizer says otherwise; nothing
  /// where this parameter has no such state.
  virtual std::optional<DimVector> state_sizes(size_t k, const Tensor& param) const;
  /// The k-th state of a parameter that has none yet: zeros, unless the optimizer says otherwise.
  /// Has the parameter's sizes, strides, dtype and device.
  virtual Tensor make_state(const OptimizerOptions& options, size_t k, const Tensor& param) const;
  /// Numbers of a parameter's `step`-th step, the first of which is 1. `fresh`: the first state was
  /// made for this step.
  virtual StepNumbers numbers(const OptimizerOptions& options, int64_t step, bool fresh);
  virtual void launch(const OptimizerOptions& options, const ParamList& list);

  /// What a step does with a sparse gradient: nothing but an Error; what it does with a dense one;
  /// or `update_rows`.
  enum class SparseGradients : uint8_t { Refused, Dense, Rows };
  virtual SparseGradients sparse_gradients(const OptimizerOptions&) const {
    return SparseGradients::Refused;
  }
  /// Whether a step works with dense gradients. What it does with sparse ones is `update_rows`
  /// then.
  virtual bool takes_dense_gradients() const { return true; }
  /// Copies of a parameter's and its states' elements at the indices of its gradient, each once.
  struct Rows {
    Tensor grad, param;
    Tensor states[ParamState::kMaxTensors];
    int64_t step;  ///< that is being made: 1 at first
  };
  /// Gives them the values that they have after the step.
  virtual void update_rows(const OptimizerOptions& options, Rows& rows) const;
  /// Throws Error, in PyTorch's words, for a gradient of a kind that these options do not take.
  void check_gradient_kind(const OptimizerOptions& options, const Tensor& grad) const;

  /// The closure's loss, with gradients enabled; undefined without a closure.
  static Tensor evaluate(const LossClosure& closure);
  /// The state of a parameter, made if there is none yet.
  ParamState& state_of(const Tensor& param) const;
  /// The state of a parameter, or an empty one.
  const ParamState& known_state(const Tensor& param) const;
  /// An uninitialised tensor with the parameter's sizes, strides, dtype and device.
  static Tensor empty_for(const Tensor& param);
  /// 1 - beta^step, remembered from one parameter to the next.
  double bias_correction(int which, double beta, int64_t step);

 private:
  /// One kernel call of a step, ready to run: parameters of one group, dtype and device. Nothing of
  /// the optimizer has changed for it; what it changes is written down beside it.
  struct Call {
    Call(size_t g, Device device, ScalarType dtype) : group(g), list(device, dtype) {}
    void clear();

    size_t group;
    ParamList list;
    std::vector<size_t> params;  // for each item its position in the group
    struct NewState {
      size_t param, which;
      Tensor tensor;
    };
    std::vector<NewState> states;
    std::vector<Tensor> keep_alive;                  // gradients brought into order
    std::vector<std::pair<Tensor, Tensor>> results;  // parameters with gaps, and dense copies
  };
  /// Rows of a tensor that get new values, by one kernel call.
  struct RowsToPut {
    RowsToPut(const Tensor& to, const Tensor& indices, const Tensor& rows);
    void put() const { write(values); }
    void put_back() const { write(before); }
    void write(const Tensor& rows) const;
    Tensor values, before, offsets, block;
  };
  /// The step of a parameter with a sparse gradient, ready to be taken over.
  struct SparseCall {
    size_t group, param;
    Tensor states[ParamState::kMaxTensors];  // those that it works on, new ones too
    std::vector<RowsToPut> puts;             // of the parameter and its states
  };
  /// The states that steps of a group work on.
  struct Wanted {
    ArrayRef<const char*> names;
    bool states[ParamState::kMaxTensors];
  };

  void plan(size_t group);
  void plan_parameter(size_t group, size_t i, const Wanted& wanted, const Tensor& given);
  void plan_sparse(size_t group, size_t i, const Wanted& wanted);
  Tensor renewed_state(const OptimizerParamGroup& group, size_t i, size_t k, const Tensor& param);
  Call& call_for(size_t group, const Tensor& param);
  void run(Call& call);
  void run_all();
  void run(SparseCall& call);
  void check_capturable(const OptimizerParamGroup& group, size_t i) const;
  void make_live(Call& call);
  void bring_up_to_date() const;
  void check_names(const OptimizerState& state) const;
  std::unique_ptr<OptimizerOptions> loaded_options(const OptimizerState& state, size_t group) const;
  ParamState loaded_param(const OptimizerState& state, const std::string& prefix,
                          const Tensor& param) const;

  /// Steps of captured parameters that only the device knows to have been left out.
  struct Skippable {
    Tensor skip;
    std::set<std::pair<size_t, size_t>> params;  // group, position
  };

  std::shared_ptr<int> alive_ = std::make_shared<int>();  // ends with the optimizer
  std::vector<Skippable> skippable_;
  Tensor skip_;              // of the step that is being captured
  std::vector<Call> calls_;  // of one step; reused from step to step
  std::vector<SparseCall> sparse_calls_;
  struct {
    double beta = -1;
    int64_t step = -1;
    double value = 0;
  } corrections_[2];
};

}  // namespace taeda::optim
