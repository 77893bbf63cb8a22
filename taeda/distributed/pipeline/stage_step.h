// What a stage does with the micro-batches of a step. Not part of the public interface.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/distributed/pipeline/link.h"
#include "taeda/distributed/pipeline/schedules.h"

namespace taeda::inline v0_2::distributed::pipelining::detail {

/// A step's inputs and results, by micro-batch.
struct StepBatch {
  std::vector<std::vector<Tensor>> arguments;    ///< of the first stage
  std::vector<Tensor> targets, outputs, losses;  ///< of the last one
};

/// Runs one stage. Each micro-batch is a graph of its own from the values that came from the stage
/// before to those that go to the next one.
class StageRunner {
 public:
  /// With a loss the last stage computes gradients of it, times `scale`; without one there are
  /// none.
  StageRunner(PipelineStage stage, Loss loss, bool trains, double scale, Traffic& traffic);

  void begin(StepBatch& batch, size_t micro_batches);
  void forward(size_t micro_batch);
  void backward(size_t micro_batch);
  /// Has what an action needs under way before it begins.
  void expect(bool backward, size_t micro_batch);

  const PipelineStage& stage() const { return stage_; }

 private:
  /// A micro-batch between forward and backward.
  struct Slot {
    std::vector<Tensor> given, outputs;
  };
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, nn::detail::Form& form);
  void finish_last(size_t micro_batch, const nn::detail::Form& form, std::vector<Tensor>& outputs);
  Tensor loss_of(const Tensor& output, const Tensor& target) const;
  void run_backward(const std::vector<Tensor>& outputs, const std::vector<Tensor>& gradients);

  PipelineStage stage_;
  Loss loss_;
  bool trains_;
  double scale_;
  std::optional<Link> before_, behind_;
  DistributedDataParallelBase* replicas_;  ///< if the module is one of several
  StepBatch* batch_ = nullptr;
  size_t to_go_back_ = 0;  ///< micro-batches
  std::vector<Slot> slots_;
};

}  // namespace taeda::distributed::pipelining::detail
