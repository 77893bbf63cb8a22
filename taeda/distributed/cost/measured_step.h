// When what happens in a training step on one device: run on a simulated device, on its predicted
// clock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "taeda/nn/module.h"
#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::distributed::cost {

/// What is trained, and how.
struct TrainingStep {
  std::shared_ptr<nn::Module> model;
  /// Calls the model and gives the loss of a batch.
  std::function<Tensor()> loss;
  std::shared_ptr<optim::Optimizer> optimizer;
  /// Modules before which a pipeline can be cut, in the order in which they are called, each once
  /// with one tensor on which all that comes later depends.
  std::vector<std::shared_ptr<nn::Module>> cuts;
};

/// A gradient, when it can be sent. Times are seconds from the beginning of the step.
struct Gradient {
  Tensor parameter;
  size_t layer;  ///< parameters of one module have the same
  double ready;
};

/// What lies between two cuts: a pipeline's stage is one or several neighbours of these.
struct Part {
  double forward = 0, backward = 0;  ///< seconds
  double backward_begin = 0;
  int64_t input_bytes = 0;  ///< of one batch's activations; 0 for the first
  int64_t kept_bytes = 0;   ///< that forward leaves for backward
  int64_t parameter_bytes = 0;
};

struct MeasuredStep {
  double forward_end = 0, backward_end = 0, end = 0;
  std::vector<Gradient> gradients;  ///< in the order of `ready`
  std::vector<Part> parts;
  int64_t parameter_bytes = 0, gradient_bytes = 0, state_bytes = 0, buffer_bytes = 0;
  int64_t peak_bytes = 0;  ///< of device memory
  double flops = 0;        ///< of products
};

/// Runs two steps and measures the second, in which the optimizer has its state. The model is on
/// `device`, a simulated one with a cost model; it need not compute (sim::Options::compute).
/// Throws Error where a parameter is elsewhere, or no parameter gets a gradient.
MeasuredStep measure_step(const TrainingStep& step, Device device);

}  // namespace taeda::inline v0_2::distributed::cost
