// Adafactor.
#pragma once

#include <optional>
#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

extern const Rule adafactor_rule;  ///< What a step does to a parameter and its state.

/// Options of Adafactor.
class AdafactorOptions : public RuleOptions<AdafactorOptions, adafactor_rule> {
 public:
  using Eps = std::tuple<std::optional<double>, double>;
  TAEDA_LEARNING_RATE(AdafactorOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  /// The weight of the step'th squared gradient is step^beta2_decay.
  TAEDA_OPTION(double, beta2_decay) = -0.8;
  /// The least root of a mean square, by default the dtype's epsilon, and the least size of
  /// parameters that steps are in proportion to.
  TAEDA_OPTION(Eps, eps) = {std::nullopt, 1e-3};
  /// The largest root mean square of an update.
  TAEDA_OPTION(double, d) = 1;
  /// What a step takes off each parameter, as a part of it; at least 0.
  TAEDA_OPTION(double, weight_decay) = 0;
  /// Whether steps go up.
  TAEDA_OPTION(bool, maximize) = false;
};

/// What Adafactor keeps: rows' and columns' means of a parameter with two dimensions or more, mean
/// squares of every element of others.
class AdafactorParamState final : public OptimizerCloneableParamState<AdafactorParamState> {
 public:
  static constexpr const char* kNames[] = {"row_var", "col_var", "variance"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, row_var)
  TAEDA_STATE_TENSOR(1, col_var)
  TAEDA_STATE_TENSOR(2, variance)
};

/// Adam without momentum, whose second moments of a matrix are the product of a column and a row
/// (Shazeer and Stern 2018).
class Adafactor : public RuleOptimizer<AdafactorOptions, AdafactorParamState, adafactor_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
