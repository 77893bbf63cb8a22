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

/// Numbers by name from which a schedule goes on; a missing one is an Error.
using SchedulerState = OrderedDict<std::string, double>;

/// The base of schedules, which must not outlive their optimizer. A schedule sets each group's rate
/// from the one before, so that several may work on one optimizer.
class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Sets the learning rates of the next step; to be called once an epoch by default.
  virtual void step();
  /// The rate of each group, one number at least.
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

/// Multiplies rates by gamma, 0.1 by default, at each milestone; one listed twice counts twice.
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  std::vector<int64_t> milestones_;
  double gamma_;
};

/// Multiplies rates by gamma every epoch; there is no default.
class ExponentialLR final : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  double gamma_;
};

/// eta_min + (base - eta_min) (1 + cos(pi epoch / t_max)) / 2, eta_min 0 by default (Loshchilov and
/// Hutter 2017).
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  int64_t t_max_;
  double eta_min_;
};

/// A factor that goes linearly from `start_factor`, 1/3 by default, to `end_factor`, 1, in
/// `total_iters` epochs, 5: warm-up.
class LinearLR final : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0,
           int64_t total_iters = 5);

 private:
  double rate(size_t, double base, double current, int64_t epoch) override;
  double start_, end_;
  int64_t total_;
};

/// The base rate times a function of the epoch; as many functions as groups, else Error, or one.
class LambdaLR final : public LRScheduler {
 public:
  using Function = std::function<double(int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, Function f);
  LambdaLR(Optimizer& optimizer, std::vector<Function> functions);

 private:
  double rate(size_t group, double base, double current, int64_t epoch) override;
  std::vector<Function> functions_;
};

/// A number for all groups of an optimizer, or one for each; another count is an Error.
class PerGroup : public std::vector<double> {
 public:
  PerGroup(double value) : vector(1, value) {}
  PerGroup(std::initializer_list<double> values) : vector(values) {}
  PerGroup(std::vector<double> values) : vector(std::move(values)) {}
};

/// Options of OneCycleLR; numbers out of their ranges are refused.
struct OneCycleLROptions {
  /// The largest rate; one number, or one for each group, with no default.
  Option<PerGroup> max_lr;
  /// How many steps the cycle has, at least 1; 0 for epochs times steps_per_epoch.
  Option<int64_t> total_steps = 0;
  /// How many epochs there are, at least 1 unless total_steps is given.
  Option<int64_t> epochs = 0;
  /// How many steps an epoch has, at least 1 unless total_steps is given.
  Option<int64_t> steps_per_epoch = 0;
  /// The part of the steps, between 0 and 1, in which the rate grows.
  Option<double> pct_start = 0.3;
  /// Whether rates follow a cosine, the default, instead of straight lines.
  Option<bool> cosine = true;
  /// Whether momentum, or beta1, goes the other way; true by default.
  Option<bool> cycle_momentum = true;
  /// The least momentum, at the largest rate; one number, or one for each group.
  Option<double> base_momentum = 0.85;
  /// The largest momentum, at the least rate; 0.95 by default.
  Option<double> max_momentum = 0.95;
  /// The first rate is max_lr divided by this number, 25 by default.
  Option<double> div_factor = 25.0;
  /// The last rate is the first one divided by this number, 1e4 by default.
  Option<double> final_div_factor = 1e4;
  /// Whether the rate falls to the first one as it rose, and then to the last; false by default.
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

/// One schedule after the other: at milestones[i] the next one takes over from its start. The
/// milestones must be one fewer than the schedules.
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

/// All schedules, at least one, in every step, each on what the one before left.
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

/// Options of ReduceLROnPlateauScheduler; a factor that is not below 1 is a ValueError.
struct ReduceLROnPlateauOptions {
  enum Mode { min, max };
  enum ThresholdMode { rel, abs };
  /// Whether a smaller metric is better, the default, or a larger one.
  Option<Mode> mode = min;
  /// The factor of the rate, which must be below 1.
  Option<double> factor = 0.1;
  /// How many steps without a better metric pass before the rate falls; 10 by default.
  Option<int64_t> patience = 10;
  /// By how much a metric must be better to count.
  Option<double> threshold = 1e-4;
  /// Whether `threshold` is a part of the best metric, the default, or a difference from it.
  Option<ThresholdMode> threshold_mode = rel;
  /// How many steps after a lower rate do not count; 0 by default.
  Option<int64_t> cooldown = 0;
  /// The least rate, 0 by default; one number, or one for each group.
  Option<PerGroup> min_lr = 0.0;
  /// Changes of the rate that are at most this large are left out; 1e-8 by default.
  Option<double> eps = 1e-8;
};

/// Multiplies rates by `factor` when a metric has not improved for more than `patience` steps, 10
/// by default.
class ReduceLROnPlateauScheduler {
 public:
  using SchedulerMode = ReduceLROnPlateauOptions::Mode;
  using ThresholdMode = ReduceLROnPlateauOptions::ThresholdMode;
  static constexpr SchedulerMode min = ReduceLROnPlateauOptions::min;
  static constexpr SchedulerMode max = ReduceLROnPlateauOptions::max;
  static constexpr ThresholdMode rel = ReduceLROnPlateauOptions::rel;
  static constexpr ThresholdMode abs = ReduceLROnPlateauOptions::abs;
  /// From options in libtorch's order, with the same defaults; `verbose` prints nothing.
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode, double factor = 0.1,
                             int64_t patience = 10, double threshold = 1e-4,
                             ThresholdMode threshold_mode = rel, int64_t cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8,
                             bool verbose = false);
  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, ReduceLROnPlateauOptions options = {});

  /// Takes the metric of the epoch that ended, which must be a number.
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
/// The same class under Python's name, with the same defaults.
using ReduceLROnPlateau = ReduceLROnPlateauScheduler;

}  // namespace taeda::inline v0_2::optim
