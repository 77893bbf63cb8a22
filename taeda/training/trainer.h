// One step of training as a whole: backward, scaling, clipping, optimizer, schedule and what is to
// be logged, in the one order in which they are right, and all of it or none.
#pragma once

#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "taeda/amp/grad_scaler.h"
#include "taeda/kernels/param_list.h"
#include "taeda/nn/holder.h"
#include "taeda/optim/lr_scheduler.h"

namespace taeda::inline v0_2::training {

/// What belongs to the steps besides model and optimizer. The Trainer does not own what is pointed
/// to, which must outlive it; by default there is none.
struct TrainerOptions {
  /// A scaler of losses; one that is not enabled counts as none, the default.
  amp::GradScaler* scaler = nullptr;
  /// A schedule that moves after each step that was taken; none by default. A schedule of epochs is
  /// the program's to call.
  optim::LRScheduler* schedule = nullptr;
  /// The largest norm of all gradients together, as nn::utils::clip_grad_norm_ has it; positive.
  double max_norm = std::numeric_limits<double>::infinity();
  /// How many losses, at least 1, a step is for: it goes against the gradient of their mean.
  int64_t accumulate = 1;
};

/// What a loss came to. Gathered, the default: its gradient waits for those of further losses.
/// Skipped: not all gradients were finite, and nothing but the scale has changed.
enum class Outcome : uint8_t { Gathered, Stepped, Skipped };

/// All there is to log of a step, as numbers. In a condition it is true if the step was taken;
/// asking for numbers waits for the device.
struct StepReport {
  Outcome outcome = Outcome::Gathered;
  int64_t step = 0;    ///< how many steps were taken, this one included; 0 at first
  int64_t losses = 0;  ///< how many losses were gathered for it; at least 1 of a step
  double lr = 0;       ///< the rate of the first group, with which the step was taken; not negative
  double scale = 1;    ///< the factor of its losses; 1 by default
  // Not a number while losses are gathered: asking for them would wait for the device.
  /// the mean of its losses; not a number while they are gathered, by default
  double loss = std::numeric_limits<double>::quiet_NaN();
  /// the 2-norm of all elements of gradients, before clipping
  double grad_norm = std::numeric_limits<double>::quiet_NaN();
  bool clipped = false;
  /// The first parameter whose gradient was not finite, by its path in the model; empty if all
  /// were.
  std::optional<amp::NonFiniteGradient> non_finite;

  /// "step 12: loss 0.3471, gradient norm 2.15 (clipped), lr 0.001, scale 65536".
  std::string str() const;
  explicit operator bool() const { return outcome == Outcome::Stepped; }
};

std::ostream& operator<<(std::ostream& out, const StepReport& report);

/// Takes steps:
///
///     training::Trainer trainer(net, optimizer, {.scaler = &scaler, .schedule = &schedule});
///     for (auto& batch : *loader) {
///       const training::StepReport report = trainer.step(criterion(net(batch.data),
///       batch.target)); if (report.outcome == training::Outcome::Skipped) std::cerr << report <<
///       '\n';
///     }
///
/// Gradients belong to it: they are dropped before the first loss of a step and after the step.
/// An error of a step - in backward, of the optimizer, of a schedule that is over - comes out of it
/// with parameters, optimizer, schedule and scaler as they were before the step, and the losses
/// gathered so far are dropped; a schedule goes back by its state dict. Each step waits for the
/// device, and cannot be captured into a graph.
class Trainer {
 public:
  /// Model, optimizer and what the options point to outlive it. Throws ValueError for a max_norm
  /// that is not positive, an `accumulate` below 1, or a schedule of another optimizer.
  Trainer(nn::Module& model, optim::Optimizer& optimizer, TrainerOptions options = {});
  template <class Contained>
  Trainer(nn::ModuleHolder<Contained>& model, optim::Optimizer& optimizer,
          TrainerOptions options = {})
      : Trainer(*model, optimizer, options) {}

  /// Adds the gradient of a loss, which is a scalar that belongs to a graph, and takes a step when
  /// there are enough of them. Throws Error where no parameter of the optimizer got a gradient, and
  /// what backward and the optimizer throw.
  StepReport step(const Tensor& loss);
  /// The step for losses that are fewer than `accumulate`, against the gradient of their mean: for
  /// the end of an epoch. Reports Gathered with 0 losses where there are none.
  StepReport finish();

  /// How many steps were taken, 0 at first; a run that goes on must set it to what its checkpoint
  /// has.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  struct Schedule;

  template <class F>
  StepReport whole_or_nothing(F&& work);
  StepReport close();
  StepReport begin_report() const;
  void check_gradients(const std::vector<ParamList>& lists, StepReport& report) const;
  void change();
  amp::NonFiniteGradient first_non_finite() const;
  amp::GradScaler* scaler() const {
    return options_.scaler && options_.scaler->is_enabled() ? options_.scaler : nullptr;
  }

  nn::Module& model_;
  optim::Optimizer& optimizer_;
  const TrainerOptions options_;
  int64_t steps_ = 0, losses_ = 0;
  bool unscaled_ = false;  // the scaler has seen the gradients of this step
  Tensor sum_;             // of the losses gathered
};

}  // namespace taeda::inline v0_2::training
