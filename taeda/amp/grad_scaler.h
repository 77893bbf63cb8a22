// Keeping small float16 gradients alive: the loss is multiplied by a factor, the gradients are
// divided by it before the step, and a step whose gradients overflowed is left out.
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taeda/base/ordered_dict.h"
#include "taeda/kernels/param_list.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::amp {

/// The first parameter whose gradient held an infinity or a nan.
/// Numbers count from 0; the name is empty where none was given.
struct NonFiniteGradient {
  size_t group, index;  // the parameter group, and the position in it
  std::string name;     // where names were given
  /// "layers.0.weight", or "parameter 3 of group 0".
  std::string str() const;
};

/// What a step came to. True in a condition if the optimizer stepped.
/// By default it did not, and all gradients were finite.
struct StepResult {
  bool stepped = false;
  std::optional<NonFiniteGradient> non_finite;
  explicit operator bool() const { return stepped; }
};

/// What a GradScaler needs of an optimizer.
template <class T>
concept ScalableOptimizer = requires(T& optimizer) {
  { optimizer.param_groups()[0].params() } -> std::convertible_to<const std::vector<Tensor>&>;
  optimizer.step();
};

/// torch.amp.GradScaler. An iteration is
///
///     scaler.scale(loss).backward();
///     scaler.unscale_(optimizer);      // only to look at the gradients before the step, to clip
///     scaler.step(optimizer);
///     scaler.update();
///
/// The scale is multiplied by `backoff_factor` after an iteration with a gradient that is not
/// finite, and by `growth_factor` after `growth_interval` iterations in a row without one.
///
/// The iteration can be captured into a graph (device/graph.h) after some that were not. The scale
/// then lives on the device, and replays decide there whether they step: the host waits for
/// nothing. `step` returns true in the capture; which gradient overflowed is not known. Asking for
/// the scale or the state, and iterations outside of graphs, wait for the device.
class GradScaler {
 public:
  using Names = OrderedDict<std::string, Tensor>;
  /// A scaler that is not `enabled` passes everything through. Throws ValueError if growth_factor
  /// is not above or backoff_factor not below 1.
  explicit GradScaler(Device device = kCUDA, double init_scale = 65536, double growth_factor = 2,
                      double backoff_factor = 0.5, int64_t growth_interval = 2000,
                      bool enabled = true);
  GradScaler(GradScaler&&) = default;
  GradScaler& operator=(GradScaler&&) = default;

  /// The loss, or whatever gradients start from, times the scale. A scalar of half precision
  /// becomes float32, which holds the product.
  Tensor scale(const Tensor& outputs);
  std::vector<Tensor> scale(const std::vector<Tensor>& outputs);

  /// Divides the optimizer's gradients by the scale, in place. Throws Error if that was done since
  /// the last update, and ValueError for float16 gradients, which would lose what scaling saved.
  template <ScalableOptimizer Optimizer>
  void unscale_(Optimizer& optimizer) {
    if (enabled_) unscale(&optimizer, parameters_of(optimizer));
  }

  /// Unscales unless that is done, and steps if every gradient is finite. With
  /// `model->named_parameters()` the result names the parameter that was not.
  /// Throws Error if this optimizer stepped since the last update.
  template <ScalableOptimizer Optimizer>
  StepResult step(Optimizer& optimizer, const Names& names = Names()) {
    StepResult result;
    if (enabled_) result.non_finite = before_step(&optimizer, parameters_of(optimizer), names);
    result.stepped = !result.non_finite;
    if (const Tensor skip = enabled_ ? captured_skip(&optimizer) : Tensor(); skip.defined())
      step_in_graph(optimizer, skip);
    else if (result.stepped)
      optimizer.step();
    return result;
  }

  /// Moves the scale for the next iteration, or sets it. Throws Error if no optimizer was unscaled
  /// or stepped since the last call.
  void update(std::optional<double> new_scale = {});

  /// The state and the numbers that the constructor got; setters take effect with the next
  /// `update`.
  /// By default 65536, 2, 0.5 and 2000 steps.
  double get_scale() const { return enabled_ ? state().scale : 1; }
  double get_growth_factor() const { return live_->state.growth_factor; }
  void set_growth_factor(double factor) { live_->state.growth_factor = factor; }
  double get_backoff_factor() const { return live_->state.backoff_factor; }
  void set_backoff_factor(double factor) { live_->state.backoff_factor = factor; }
  int64_t get_growth_interval() const { return live_->state.growth_interval; }
  void set_growth_interval(int64_t interval) { live_->state.growth_interval = interval; }
  bool is_enabled() const { return enabled_; }
  Device device() const { return device_; }

  /// Names and numbers as PyTorch saves them ("scale", "growth_factor", "backoff_factor",
  /// "growth_interval", "_growth_tracker"); empty for a disabled scaler.
  OrderedDict<std::string, double> state_dict() const;
  /// Throws Error for an empty or incomplete state. A disabled scaler loads nothing.
  void load_state_dict(const OrderedDict<std::string, double>& state);

 private:
  struct State {
    double scale, growth_factor, backoff_factor;
    int64_t growth_interval, growth_tracker;
  };
  using Parameters = std::vector<std::vector<Tensor>>;  // by group
  enum class Stage { Ready, Unscaled, Stepped };
  struct PerOptimizer {
    Stage stage = Stage::Ready;
    bool captured = false;
    std::optional<NonFiniteGradient> non_finite;
  };
  /// The state, which graphs that were captured share.
  struct Live {
    State state;
    Tensor numbers;                      // scale and growth tracker on the device
    bool captured = false;               // a graph changes the numbers
    bool newer = true;                   // the host's state is to reach them at the next replay
    std::map<const void*, Tensor> skip;  // by optimizer: Optimizer::step_unless
  };

  template <class Optimizer>
  static Parameters parameters_of(Optimizer& optimizer) {
    Parameters out;
    for (auto& group : optimizer.param_groups()) out.push_back(group.params());
    return out;
  }
  template <class Optimizer>
  static void step_in_graph(Optimizer& optimizer, const Tensor& skip) {
    if constexpr (requires { optimizer.step_unless(skip); })
      optimizer.step_unless(skip);
    else
      throw_no_captured_step();
    count_step(skip);
  }
  [[noreturn]] static void throw_no_captured_step();
  static void count_step(const Tensor& skip);
  Tensor captured_skip(const void* optimizer) const;
  const State& state() const;
  State& changed_state();
  Tensor scale_in_graph(const Tensor& outputs);
  GraphNumbers live_factors() const;
  void unscale_now(const void* optimizer, const std::vector<ParamList>& lists,
                   const Parameters& parameters);
  void unscale_in_graph(const void* optimizer, std::vector<ParamList> lists);
  void update_in_graph(std::optional<double> new_scale);
  void check_scaled(const char* function) const;
  void unscale(const void* optimizer, const Parameters& parameters);
  std::optional<NonFiniteGradient> before_step(const void* optimizer, const Parameters& parameters,
                                               const Names& names);

  Device device_;
  bool enabled_;
  bool used_ = false;  // scale() was called
  std::shared_ptr<Live> live_;
  std::map<const void*, PerOptimizer> optimizers_;  // those of this iteration
};

}  // namespace taeda::amp
