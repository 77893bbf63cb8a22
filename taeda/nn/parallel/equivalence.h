// Does a model trained in parallel get the gradients of one device? A helper for tests of programs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/nn/any_module.h"

namespace taeda::equivalence {

/// One way to run a model. `prepare` is given the model, on the device of the comparison, and gives
/// the function that computes its output; the gradients are read from the model's parameters.
struct Plan {
  using Forward = std::function<Tensor(const Tensor& input)>;
  std::string name;
  std::function<Forward(const nn::AnyModule& model, Device device)> prepare;
};

/// nn::DataParallel on the first `devices` devices of the comparison's type.
Plan DataParallel(int devices, int64_t dim = 0);

struct Batch {
  Tensor input, target;
};

struct Options {
  /// Where one device computes, and the parallel ways begin: "cuda:0" if there is one, or "sim:0".
  std::optional<Device> device;
  /// By default cross entropy for integer targets, else the mean squared error.
  std::function<Tensor(const Tensor& output, const Tensor& target)> loss;
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
