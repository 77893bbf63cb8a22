// Schedules of learning rates. Construct one after the optimizer; it sets the rate of step 0. Call
// `step()` after `optimizer.step()`.
#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/base/option.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Numbers from which a schedule goes on, by name.
using SchedulerState = OrderedDict<std::string, double>;

/// A schedule sets each group's rate from the one before, so that several may work on one
/// optimizer.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Sets the learning rates of the next step; called once an epoch, or as the class says.
  virtual void step();
  /// The rate of each group.
  std::vector<double> get_last_lr() const;
  int64_t last_epoch() const { return epoch_; }
  Optimizer& optimizer() { return optimizer_; }
  virtual SchedulerState state_dict() const;
  /// Throws Error if a number is missing, and changes nothing then.
  virtual void load_state_dict(const SchedulerState& state);

 protected:
  /// The rate at `epoch` of a group that starts from `base` and has `current` now. At epoch 0,
  /// `current` is what the group had before this schedule.
  virtual double rate(size_t, double, double current, int64_t) { return current; }
  /// The rates of all groups at the current epoch. A schedule of a program may override this, as in
  /// libtorch, from `get_current_lrs()` and `step_count_`, and leave begin() out.
  virtual std::vector<double> get_lrs();
  std::vector<double> get_current_lrs() const;
  /// To be called at the end of each schedule's constructor: sets the rates of epoch 0.
  void begin() { move_to(0); }
  /// Loads this schedule and those that it is made of: all, or none if one misses a number.
  void load_with(const SchedulerState& state,
                 const std::vector<std::shared_ptr<LRScheduler>>& children);

  unsigned step_count_ = 0;  ///< calls of step() before the current one

 private:
  friend class SequentialLR;
  std::vector<double> checked_lrs();
  void move_to(int64_t epoch);

  Optimizer& optimizer_;
  int64_t epoch_ = -1;
};

/// Times gamma every `step_size` epochs, at least 1. Throws ValueError for other sizes and for a
/// gamma that is no number.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);

 protected:
  double rate(size_t, double base, double current, int64_t epoch) override;

 private:
  int64_t step_size_;
  double gamma_;
};

/// Times gamma at each milestone; one that is listed twice counts twice.
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// Times gamma every epoch.
class ExponentialLR final : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  double gamma_;
};

/// eta_min + (base - eta_min) (1 + cos(pi epoch / t_max)) / 2 (Loshchilov and Hutter 2017).
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  int64_t t_max_;
  double eta_min_;
};

/// A factor that goes linearly from `start_factor` to `end_factor` in `total_iters` epochs:
/// warm-up.
class LinearLR final : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0,
           int64_t total_iters = 5);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  double start_, end_;
  int64_t total_;
};

/// base times a function of the epoch; one function for all groups or one for each.
class LambdaLR final : public LRScheduler {
 public:
  using Function = std::function<double(int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, Function f);
  LambdaLR(Optimizer& optimizer, std::vector<Function> functions);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  std::vector<Function> functions_;
};

/// A number for all groups of an optimizer, or one for each.
class PerGroup : public std::vector<double> {
 public:
  PerGroup(double value) : vector(1, value) {}
  PerGroup(std::initializer_list<double> values) : vector(values) {}
  PerGroup(std::vector<double> values) : vector(std::move(values)) {}
};

/// Of OneCycleLR.
struct OneCycleLROptions {
  /// The largest rate.
  Option<PerGroup> max_lr;
  /// How many steps the cycle has, at least 1; 0 for epochs times steps_per_epoch.
  Option<int64_t> total_steps = 0;
  /// How many epochs there are, at least 1 unless total_steps is given.
  Option<int64_t> epochs = 0;
  /// How many steps an epoch has, at least 1 unless total_steps is given.
  Option<int64_t> steps_per_epoch = 0;
  /// In which part of the steps the rate grows, from 0 to 1.
  Option<double> pct_start = 0.3;
  /// Whether rates follow a cosine instead of straight lines.
  Option<bool> cosine = true;
  /// Whether momentum (or beta1) goes the other way.
  Option<bool> cycle_momentum = true;
  /// The smallest momentum.
  Option<double> base_momentum = 0.85;
  /// The largest one.
  Option<double> max_momentum = 0.95;
  /// The first rate is max_lr / div_factor.
  Option<double> div_factor = 25.0;
  /// The last rate is the first one divided by it.
  Option<double> final_div_factor = 1e4;
  /// Whether the rate falls back to the first one as it rose, and then to the last one.
  Option<bool> three_phase = false;
};

/// From max_lr / div_factor up to max_lr and down to initial / final_div_factor, while momentum (or
/// beta1) goes the other way (Smith and Topin 2018). Steps are batches, not epochs.
class OneCycleLR final : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options);
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps)
      : OneCycleLR(optimizer, OneCycleLROptions{.max_lr = max_lr, .total_steps = total_steps}) {}

 private:
  struct Phase {
    double end_step, start_lr, end_lr, start_momentum, end_momentum;
  };
  double rate(size_t group, double base, double current, int64_t step) override;
  double anneal(double start, double end, double part) const;
  std::vector<Phase> phases(double max_lr) const;
  OneCycleLROptions options_;
  int64_t total_ = 0;
};

/// One schedule after the other: the (i+1)-th takes over, from its start, at milestones[i].
class SequentialLR final : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<int64_t> milestones);
  template <class Int = int64_t>
  SequentialLR(Optimizer& optimizer, std::vector<LRScheduler*>, std::vector<Int>)
      : LRScheduler(optimizer) {
    static_assert(sizeof(Int) == 0,
                  "SequentialLR keeps schedules: give std::make_shared<StepLR>(...), no pointers");
  }
  template <class S>  // two pointers of one class, which would be a range otherwise
  SequentialLR(Optimizer& o, std::initializer_list<S*> s, const std::vector<int64_t>& milestones)
      : SequentialLR(o, std::vector<LRScheduler*>(s.begin(), s.end()), milestones) {}
  void step() override;
  SchedulerState state_dict() const override;
  void load_state_dict(const SchedulerState& state) override;

 private:
  double rate(size_t, double, double current, int64_t) override { return current; }
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

/// All schedules in every step, each on what the one before left.
class ChainedScheduler final : public LRScheduler {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);
  void step() override;
  SchedulerState state_dict() const override;
  void load_state_dict(const SchedulerState& state) override;

 private:
  double rate(size_t, double, double current, int64_t) override { return current; }
  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
};

/// When ReduceLROnPlateauScheduler lowers the rate, and by which factor.
struct ReduceLROnPlateauOptions {
  enum Mode { min, max };
  enum ThresholdMode { rel, abs };
  /// Whether a smaller metric is better, or a larger one.
  Option<Mode> mode = min;
  /// What the rate is multiplied by, below 1.
  Option<double> factor = 0.1;
  /// How many steps without a better metric pass.
  Option<int64_t> patience = 10;
  /// By how much a metric must be better to count.
  Option<double> threshold = 1e-4;
  /// Whether that is a part of the best metric, or a difference from it.
  Option<ThresholdMode> threshold_mode = rel;
  /// How many steps after a lower rate do not count.
  Option<int64_t> cooldown = 0;
  /// The least rate.
  Option<PerGroup> min_lr = 0.0;
  /// Changes of the rate that are not larger are left out.
  Option<double> eps = 1e-8;
};

/// Times `factor` when a metric has not improved for more than `patience` steps.
class ReduceLROnPlateauScheduler {
 public:
  using SchedulerMode = ReduceLROnPlateauOptions::Mode;
  using ThresholdMode = ReduceLROnPlateauOptions::ThresholdMode;
  static constexpr SchedulerMode min = ReduceLROnPlateauOptions::min;
  static constexpr SchedulerMode max = ReduceLROnPlateauOptions::max;
  static constexpr ThresholdMode rel = ReduceLROnPlateauOptions::rel;
  static constexpr ThresholdMode abs = ReduceLROnPlateauOptions::abs;
  /// libtorch's order of the same options; `verbose` prints nothing.
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, double factor = 0.1,
                             int64_t patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int64_t cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8,
                             bool verbose = false);
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, ReduceLROnPlateauOptions options = {});

  /// `metric` of the epoch that ended.
  void step(double metric);
  std::vector<double> get_last_lr() const;
  SchedulerState state_dict() const;
  /// Throws Error if a number is missing, and changes nothing then.
  void load_state_dict(const SchedulerState& state);

 private:
  void reduce();

  Optimizer& optimizer_;
  ReduceLROnPlateauOptions options_;
  double best_;
  int64_t bad_steps_ = 0;
  int64_t cooldown_left_ = 0;
};
/// Python's name.
using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace taeda::inline v0_2::optim
