// Pipelines over processes, as torch.distributed.pipelining: each rank runs its stage or stages on
// parts of a batch and passes them on.
//
//     PipelineStage stage(part, rank, 4, device);
//     Schedule1F1B schedule(stage, /*n_microbatches=*/8, loss);
//     schedule.step(x, {.target = y, .losses = &losses});    // then the optimizer's step
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "taeda/distributed/pipeline/stage.h"
#include "taeda/parallel/pipe/report.h"

namespace taeda::inline v0_2::distributed::pipelining {

/// The loss of one micro-batch, a mean over its examples.
using Loss = std::function<Tensor(const Tensor& output, const Tensor& target)>;

struct ScheduleOptions {
  /// Whether gradients are those of the mean of the micro-batches' losses, the default, else of
  /// their sum.
  bool scale_grads = true;
};

/// What goes into a step besides the model's input, and what comes out of it; only the process of
/// the last stage looks at it.
struct StepOptions {
  Tensor target = {};
  std::vector<Tensor>* losses = nullptr;  ///< becomes the loss of each micro-batch
};

/// What all schedules do. A batch is cut into `n_microbatches` of one size along its first
/// dimension. Each stage's output must be the same kind of thing for all of them: the next one
/// hears of it with the first micro-batch of the first step, and what differs from then on is an
/// error that names stage and shapes. All processes of the group make a schedule of the same kind
/// with the same arguments, and call its step at the same time.
class PipelineSchedule {
 public:
  ~PipelineSchedule();
  PipelineSchedule(const PipelineSchedule&) = delete;
  PipelineSchedule& operator=(const PipelineSchedule&) = delete;

  /// Forward and, with a loss function, backward: gradients are added into the parameters. The
  /// input matters to the process of the first stage, target and losses to that of the last one,
  /// which gets the joined output, without history; others get an undefined tensor. The input gets
  /// no gradient.
  ///
  /// Throws ValueError where processes have schedules that differ, and for a batch that cannot be
  /// cut. After an error in a step the group is best destroyed: others may wait for this process.
  Tensor step(const std::vector<Tensor>& args, const StepOptions& options = {});
  Tensor step(const Tensor& x, const StepOptions& options = {}) {
    return step(std::vector<Tensor>{x}, options);
  }
  Tensor step(const StepOptions& options = {}) { return step(std::vector<Tensor>(), options); }

  /// Micro-batches whose activations this process kept at the same time in the last step, counted
  /// for each of its stages.
  int64_t most_kept() const;

 protected:
  class Impl;
  explicit PipelineSchedule(std::shared_ptr<Impl> impl);
  static std::shared_ptr<Impl> one_stage(const char* name, nn::PipeSchedule order,
                                         const PipelineStage& stage, int64_t n_microbatches,
                                         Loss loss_fn, const ScheduleOptions& options);
  static std::shared_ptr<Impl> interleaved(const std::vector<PipelineStage>& stages,
                                           int64_t n_microbatches, Loss loss_fn,
                                           const ScheduleOptions& options);

 private:
  std::shared_ptr<Impl> impl_;
};

/// All forward, then all backward (Huang et al. 2019, arXiv:1811.06965).
class ScheduleGPipe final : public PipelineSchedule {
 public:
  /// Throws ValueError for fewer than one micro-batch and where the group's processes and the
  /// stages are not equally many.
  ScheduleGPipe(const PipelineStage& stage, int64_t n_microbatches, Loss loss_fn = {},
                const ScheduleOptions& options = {})
      : PipelineSchedule(one_stage("ScheduleGPipe", nn::PipeSchedule::GPipe, stage, n_microbatches,
                                   std::move(loss_fn), options)) {}
};

/// Backward as soon as possible: stage s of S keeps at most S - s micro-batches
/// (PipeDream-Flush, Narayanan et al. 2021, arXiv:2006.09503).
class Schedule1F1B final : public PipelineSchedule {
 public:
  Schedule1F1B(const PipelineStage& stage, int64_t n_microbatches, Loss loss_fn = {},
               const ScheduleOptions& options = {})
      : PipelineSchedule(one_stage("Schedule1F1B", nn::PipeSchedule::OneForwardOneBackward, stage,
                                   n_microbatches, std::move(loss_fn), options)) {}
};

/// 1F1B with several stages on each process, which idles less the more there are (Narayanan et al.
/// 2021, arXiv:2104.04473).
class ScheduleInterleaved1F1B final : public PipelineSchedule {
 public:
  /// `stages`: this process's, in order: r, r + R, r + 2 R, ... on rank r of R. Throws ValueError
  /// unless they are, and unless the micro-batches make rounds of one size.
  ScheduleInterleaved1F1B(const std::vector<PipelineStage>& stages, int64_t n_microbatches,
                          Loss loss_fn = {}, const ScheduleOptions& options = {})
      : PipelineSchedule(interleaved(stages, n_microbatches, std::move(loss_fn), options)) {}
};

}  // namespace taeda::distributed::pipelining
