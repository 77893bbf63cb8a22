// Adadelta, Rprop and ASGD.
#pragma once

#include <tuple>

#include "taeda/optim/composed.h"

namespace taeda::inline v0_2::optim {

class AdadeltaOptions : public OptimizerCloneableOptions<AdadeltaOptions> {
 public:
  TAEDA_LEARNING_RATE(AdadeltaOptions, 1)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  TAEDA_OPTION(double, rho) = 0.9;
  TAEDA_OPTION(double, eps) = 1e-6;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Adadelta keeps for a parameter.
class AdadeltaParamState final : public OptimizerCloneableParamState<AdadeltaParamState> {
 public:
  static constexpr const char* kNames[] = {"square_avg", "acc_delta"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, square_avg)
  TAEDA_STATE_TENSOR(1, acc_delta)
};

/// Steps of the size of recent steps over that of recent gradients (Zeiler 2012); lr scales them.
class Adadelta : public ComposedOptimizer {
 public:
  Adadelta(std::vector<OptimizerParamGroup> groups, AdadeltaOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  Adadelta(std::vector<Tensor> params, AdadeltaOptions defaults = {})
      : Adadelta(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
                 std::move(defaults)) {}

 private:
  const char* kind() const override { return "Adadelta"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new AdadeltaParamState);
  }
  ArrayRef<const char*> state_names() const override { return AdadeltaParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
};

class RpropOptions : public OptimizerCloneableOptions<RpropOptions> {
 public:
  using Pair = std::tuple<double, double>;
  TAEDA_LEARNING_RATE(RpropOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  TAEDA_OPTION(Pair, etas) = {0.5, 1.2};
  TAEDA_OPTION(Pair, step_sizes) = {1e-6, 50};
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Rprop keeps for a parameter.
class RpropParamState final : public OptimizerCloneableParamState<RpropParamState> {
 public:
  static constexpr const char* kNames[] = {"prev", "step_size"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, prev)
  TAEDA_STATE_TENSOR(1, step_size)
};

/// Steps that know the gradient's sign alone, and grow while it stays (Riedmiller and Braun 1993).
class Rprop : public ComposedOptimizer {
 public:
  Rprop(std::vector<OptimizerParamGroup> groups, RpropOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  Rprop(std::vector<Tensor> params, RpropOptions defaults = {})
      : Rprop(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
              std::move(defaults)) {}

 private:
  const char* kind() const override { return "Rprop"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new RpropParamState);
  }
  ArrayRef<const char*> state_names() const override { return RpropParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
  Tensor make_state(const OptimizerOptions& options, size_t k, const Tensor& param) const override;
};

class ASGDOptions : public OptimizerCloneableOptions<ASGDOptions> {
 public:
  TAEDA_LEARNING_RATE(ASGDOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  TAEDA_OPTION(double, lambd) = 1e-4;
  TAEDA_OPTION(double, alpha) = 0.75;
  TAEDA_OPTION(double, t0) = 1e6;
  TAEDA_OPTION(double, weight_decay) = 0;
  TAEDA_OPTION(bool, maximize) = false;
};

/// What ASGD keeps for a parameter.
class ASGDParamState final : public OptimizerCloneableParamState<ASGDParamState> {
 public:
  static constexpr const char* kNames[] = {"ax"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, ax)
};

/// Stochastic gradient descent with a falling rate; `ax` of a parameter's state is the mean of its
/// values from step t0 on (Polyak and Juditsky 1992).
class ASGD : public ComposedOptimizer {
 public:
  ASGD(std::vector<OptimizerParamGroup> groups, ASGDOptions defaults = {})
      : ComposedOptimizer(std::move(groups), defaults.clone()) {}
  ASGD(std::vector<Tensor> params, ASGDOptions defaults = {})
      : ASGD(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
             std::move(defaults)) {}

 private:
  const char* kind() const override { return "ASGD"; }
  std::unique_ptr<OptimizerParamState> make_param_state() const override {
    return std::unique_ptr<OptimizerParamState>(new ASGDParamState);
  }
  ArrayRef<const char*> state_names() const override { return ASGDParamState::kNames; }
  void update(const OptimizerOptions& options, Update& u) override;
  /// The rate of the next step, and the weight of its result in the mean.
  ArrayRef<const char*> number_names() const override {
    static constexpr const char* names[] = {"eta", "mu"};
    return names;
  }
  double first_number(const OptimizerOptions& options, size_t k) const override {
    return k == 0 ? options.get_lr() : 1;
  }
};

}  // namespace taeda::optim
