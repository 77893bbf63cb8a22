// Does a model trained in parallel get the gradients of one device? A helper for tests of programs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/nn/any_module.h"
#include "taeda/parallel/pipe/report.h"

namespace taeda::inline v0_2::equivalence {

struct Batch {
  Tensor input, target;
};

/// One way to run a model; the gradients are read from the model's parameters. `prepare` is given
/// the model, on the device of the comparison, and gives the function that computes its output.
/// A way that runs backward by itself has `prepare_step` instead: it gives the function that runs a
/// whole step and returns the loss, made of `loss` as the mean over the batch.
struct Plan {
  using Forward = std::function<Tensor(const Tensor& input)>;
  using Step = std::function<Tensor(const Batch& batch)>;
  using Loss = std::function<Tensor(const Tensor& output, const Tensor& target)>;
  std::string name;
  std::function<Forward(const nn::AnyModule& model, Device device)> prepare;
  std::function<Step(const nn::AnyModule& model, Device device, const Loss& loss)> prepare_step =
      nullptr;
};

/// nn::DataParallel on the first `devices` devices of the comparison's type.
Plan DataParallel(int devices, int64_t dim = 0);

/// nn::Pipe of a Sequential, divided by parameters over the comparison's device and the next ones.
Plan Pipe(int stages, int64_t chunks, const std::string& checkpoint = "except_last");
/// nn::Pipe's train_step in the order of `schedule`.
Plan PipeStep(int stages, int64_t chunks, nn::PipeSchedule schedule,
              const std::string& checkpoint = "except_last");

struct Options {
  /// Where one device computes, and the parallel ways begin: device 0 of the
  /// preferred type (accelerator::preferred_type), or else "sim:0".
  std::optional<Device> device;
  /// By default cross entropy for integer targets, else the mean squared error.
  Plan::Loss loss;
  /// Allowed difference, relative to the largest magnitude in the tensor of one device; by default
  /// 1e-4, for float64 1e-10.
  std::optional<double> tolerance;
};

/// How far a plan was from one device, relative to the largest magnitude of what was compared.
struct Difference {
  std::string plan;
  double loss = 0, gradient = 0;
};

/// Runs one forward and backward pass of the same model on one device and with every plan, and
/// compares the loss and the gradient of every parameter. Random layers must be off, and batch
/// norm in evaluation mode: the statistics of a chunk are not the batch's.
/// Throws Error that names the plan and the first parameter, in order of registration, that
/// differs.
std::vector<Difference> check_equivalence(const std::function<nn::AnyModule()>& make_model,
                                          const Batch& batch, const std::vector<Plan>& plans,
                                          const Options& options = {});

/// The same for any function that gives a module (a holder or a shared pointer).
template <class MakeModel>
std::vector<Difference> check_parallel_equivalence(const MakeModel& make_model, const Batch& batch,
                                                   const std::vector<Plan>& plans,
                                                   const Options& options = {}) {
  return check_equivalence([&] { return nn::AnyModule(make_model()); }, batch, plans, options);
}

}  // namespace taeda::equivalence
