// The base of programs' optimizers whose step is made of operations on one parameter after another.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// A step computes every parameter's new value and state apart, and takes them over when all are
/// there: an error half-way leaves everything as it was. It needs twice the memory meanwhile.
class ComposedOptimizer : public Optimizer {
 public:
  using Optimizer::Optimizer;
  /// Throws Error while a graph is captured.
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  /// A copy of a parameter and its state, which `update` changes in place.
  struct Update {
    Tensor param, grad;
    /// With the step that is being made: 1 at first. Tensors that `state_names` has are there.
    ParamState state;
  };
  virtual void update(const OptimizerOptions& options, Update& u) = 0;
  /// The first value of the k-th number of a state.
  virtual double first_number(const OptimizerOptions&, size_t) const { return 0; }
  /// The first value of the k-th state: zeros, with the parameter's sizes, strides, dtype and
  /// device.
  virtual Tensor make_state(const OptimizerOptions& options, size_t k, const Tensor& param) const;
  size_t lasting_states() const override { return state_names().size(); }

 private:
  Update prepared(size_t group, size_t index) const;
};

}  // namespace taeda::inline v0_2::optim
