// Stochastic gradient descent with momentum.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::optim {

class SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &momentum_; }
  TAEDA_ARG(double, lr);
  TAEDA_ARG(double, momentum) = 0;
  TAEDA_ARG(double, dampening) = 0;
  TAEDA_ARG(double, weight_decay) = 0;
  TAEDA_ARG(bool, nesterov) = false;
  TAEDA_ARG(bool, maximize) = false;
};

/// b = momentum * b + (1 - dampening) * g, where g includes weight_decay * p; p -= lr * b, or with
/// nesterov p -= lr * (g + momentum * b) (Sutskever et al. 2013, with PyTorch's place of lr).
class SGD final : public Optimizer {
 public:
  SGD(std::vector<OptimizerParamGroup> groups, SGDOptions defaults)
      : Optimizer(std::move(groups), std::make_unique<SGDOptions>(std::move(defaults))) {}
  SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults)) {}

 private:
  ArrayRef<const char*> state_names() const override;
  void prepare(const OptimizerOptions&, const Tensor& param, ParamState&, ParamRef&) override;
  void launch(const OptimizerOptions&, const ParamList&) override;
};

}  // namespace taeda::optim
