// What a stage does with the micro-batches of a step, wherever its neighbours are. Not part of the
// public interface.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "taeda/parallel/pipe/meter.h"
#include "taeda/parallel/pipe/schedule.h"
#include "taeda/parallel/pipe/stage.h"

namespace taeda::inline v0_2::nn::detail {

/// How a stage's values travel: on streams between devices of a process, or in messages between
/// processes.
class Ways {
 public:
  /// Values for a stage, the forms of what they are packed in, and which of them want a gradient.
  struct Values {
    std::vector<Form> forms;
    std::vector<Tensor> tensors;
    std::vector<bool> wanted;
  };

  virtual ~Ways() = default;
  virtual Values take_values(size_t stage, size_t micro_batch) = 0;
  /// Passes on what a stage that is not the last gave, in one form and then for skips.
  virtual void pass_values(size_t stage, size_t micro_batch, Values values) = 0;
  /// Gradients of what a stage passed on; undefined for those that get none.
  virtual std::vector<Tensor> take_gradients(size_t stage, size_t micro_batch) = 0;
  /// Passes back the gradients of leaves with the values that a stage took.
  virtual void pass_gradients(size_t stage, size_t micro_batch,
                              const std::vector<Tensor>& leaves) = 0;
};

/// What the last stage is given besides values, and what it comes to, by micro-batch.
struct LastStage {
  std::function<Tensor(const Tensor& output, const Tensor& target)> loss;  ///< empty: only forward
  std::vector<Tensor> targets;
  std::vector<double> weights;  ///< of losses in what goes backward
  std::vector<Tensor> outputs;  ///< none where they are not asked for
  std::vector<Tensor> losses;
};

/// Runs one stage. Each micro-batch is a graph of its own, from leaves with the values that came
/// from the stage before to those that go to the next one, so that backward can be run in any
/// order. An exception says which stage and micro-batch it came from.
class StageRunner {
 public:
  /// Micro-batches whose activations or inputs are kept count in `kept`.
  StageRunner(const Stage& stage, Ways& ways, Kept& kept)
      : stage_(stage), ways_(ways), kept_(kept) {}

  /// Before a step. Without `trains` nothing is recorded. Of the first `checkpointed` micro-batches
  /// the inputs alone are kept, and the rest is computed again in backward. `last`: given to the
  /// last stage; `meter`: where work is measured.
  void begin(size_t micro_batches, bool trains, size_t checkpointed, LastStage* last, Meter* meter);
  void perform(const StageAction& action);

 private:
  class Replay;
  /// A micro-batch between forward and backward.
  struct Slot {
    Ways::Values given;           // leaves
    std::vector<Tensor> outputs;  // with history, unless they are to be computed again
    std::shared_ptr<Replay> replay;
  };
  void forward(size_t micro_batch);
  void backward(size_t micro_batch);
  std::vector<Tensor> run(size_t micro_batch, const Ways::Values& given, Form& form) const;
  Tensor finish(size_t micro_batch, const Form& form, const Tensor* output) const;
  void run_backward(size_t micro_batch, const std::vector<Tensor>& outputs,
                    const std::vector<Tensor>& gradients) const;

  const Stage& stage_;
  Ways& ways_;
  Kept& kept_;
  bool trains_ = true;
  size_t checkpointed_ = 0;
  LastStage* last_ = nullptr;
  Meter* meter_ = nullptr;
  std::vector<Slot> slots_;
};

}  // namespace taeda::nn::detail
