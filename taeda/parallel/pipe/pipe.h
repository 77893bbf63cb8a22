// A Sequential spread over devices that work on parts of a batch at the same time, as
// torch.distributed.pipeline.sync.Pipe.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taeda/base/option.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/parallel/pipe/report.h"

namespace taeda::inline v0_2::nn {

namespace detail {
class Pipeline;
}

/// Options of Pipe, `nn::PipeConfig{.chunks = 8, .measure = true}`. A number of chunks below 1 and
/// an unknown mode of checkpoints are ValueErrors.
struct PipeConfig {
  /// Micro-batches that a batch is cut into along its first dimension; fewer where it is too small.
  /// 1 by default.
  Option<int64_t> chunks = 1;
  /// For which of them activations are computed again in backward instead of kept: "always",
  /// "except_last" (the default) or "never". In evaluation mode: none.
  Option<std::string> checkpoint = std::string("except_last");
  /// The order of train_step's work; GPipe by default.
  Option<PipeSchedule> schedule = PipeSchedule::GPipe;
  /// Whether device events measure each step, in milliseconds, for `report()`; false by default.
  Option<bool> measure = false;
};

/// The same as a chain: `PipeOptions(8).measure(true)`.
class PipeOptions : public PipeConfig {
 public:
  using Config = PipeConfig;
  PipeOptions(int64_t chunks = 1) : Config{.chunks = chunks} {}
  PipeOptions(PipeConfig options) : Config(std::move(options)) {}
  TAEDA_OPTION(chunks)
  TAEDA_OPTION(checkpoint) TAEDA_OPTION(schedule) TAEDA_OPTION(measure)
};

/// Names the device of a module in a Pipe, which moves it there: for modules without tensors that
/// must not stay where the one before them is.
class WithDeviceImpl : public Module {
 public:
  WithDeviceImpl(AnyModule module, Device device);
  Tensor forward(const Tensor& input) { return module_.forward(input); }
  const AnyModule& module() const { return module_; }
  Device device() const { return device_; }

 private:
  AnyModule module_;
  Device device_;
};
TAEDA_MODULE(WithDevice);

/// Runs a Sequential as a pipeline. Neighbouring children on one device are a stage (on the CPU
/// each child is its own); a child without parameters and buffers belongs to the one before it
/// (PyTorch takes it to the CPU). Stages pass micro-batches on: while the second works on the first
/// part of a batch, the first works on the second part. One host thread queues everything; copies
/// run on streams of their own. Work of CPU stages is not overlapped.
///
///     model = nn::Sequential(stage1 (on cuda:0), stage2 (on cuda:1));
///     nn::Pipe pipe(model, /*chunks=*/8);
///     loss = criterion(pipe(input), target);   // all forward, then all backward
///
/// The input is on the device of the first stage, the output on that of the last. Gradients are the
/// unsplit model's up to rounding, if no layer mixes the samples of a batch: batch norm normalises
/// each micro-batch by itself and counts each once in its running statistics (PyTorch's Pipe
/// without deferred_batch_norm; its recomputations count twice). Between modules of different
/// stages go tensors, vectors, and tuples of two or three of them; skip connections: Skippable.
///
/// Throws ValueError, TypeError where PyTorch does: chunks, checkpoint, duplicate children,
/// parameters shared by stages or of one child on several devices, skips that do not match. What a
/// stage throws says stage, device and micro-batch; the next call works.
class PipeImpl : public Module {
 public:
  using Loss = std::function<Tensor(const Tensor& output, const Tensor& target)>;

  explicit PipeImpl(const Sequential& module, int64_t chunks = 1,
                    const std::string& checkpoint = "except_last");
  PipeImpl(const Sequential& module, const PipeOptions& options);
  ~PipeImpl() override;

  /// The tensors are the arguments of the first module; each is cut into micro-batches.
  /// Throws ValueError unless all are on the first stage's device.
  template <std::same_as<Tensor>... More>
  Tensor forward(const Tensor& input, const More&... more) {
    return run({input, more...});
  }

  /// Forward and backward of one batch in the order of the schedule; adds the gradients into the
  /// parameters (and into `input`, if it wants one) and returns the loss, detached, on the last
  /// device. With OneForwardOneBackward stage s of S keeps at most S - s micro-batches.
  /// `loss` is called with each micro-batch's output and part of the target; with `reduction` Mean
  /// the losses are averaged by numbers of samples, with Sum added. The target may be anywhere.
  /// If it throws, part of the gradients may have been added: zero them.
  Tensor train_step(const Tensor& input, const Tensor& target, const Loss& loss,
                    Reduction reduction = Reduction::Mean);

  /// Of the last step. Waits for the devices. Throws Error unless `measure` is on and a step was
  /// run.
  PipeReport report() const;

  const PipeOptions& options() const { return options_; }
  /// May be changed between steps.
  PipeOptions& options() { return options_; }
  int64_t chunks() const { return options_.chunks(); }
  /// The device of each stage, and how many modules it has.
  std::vector<Device> devices() const;
  std::vector<int64_t> balance() const;
  /// Modules of all stages. Throws IndexError outside [0, size).
  size_t size() const;
  std::shared_ptr<Module> operator[](size_t i) const;

  // A Pipe does not move: TypeError. A dtype is fine.
  using Module::to;
  void to(Device device, ScalarType dtype, bool non_blocking = false) override;
  void to(Device device, bool non_blocking = false) override;
  Module& cuda(int index = -1);
  Module& cpu();

 private:
  Tensor run(const std::vector<Tensor>& inputs);

  PipeOptions options_;
  std::shared_ptr<detail::Pipeline> pipeline_;
};
TAEDA_MODULE(Pipe);

}  // namespace taeda::inline v0_2::nn

namespace taeda::inline v0_2::distributed::pipeline::sync {
using nn::Pipe, nn::WithDevice;
}  // namespace taeda::inline v0_2::distributed::pipeline::sync
