// Adafactor.
#pragma once

#include <optional>
#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adafactor; a number out of its range is a ValueError.
class AdafactorOptions : public RuleOptions<AdafactorOptions, adafactor_rule> {
 public:
  using Eps = std::tuple<std::optional<double>, double>;
  TAEDA_LEARNING_RATE(AdafactorOptions, 1e-2)
  void check() const override;
  void visit(const NumberVisitor& f) override;
  /// The squared gradient of step t has the weight t^beta2_decay in the means; at most 0.
  TAEDA_OPTION(double, beta2_decay) = -0.8;
  /// The least root of a mean square, by default the dtype's epsilon, and the least size of
  /// parameters that steps are in proportion to.
  TAEDA_OPTION(Eps, eps) = {std::nullopt, 1e-3};
  /// The largest root mean square of an update's elements, at least 1; larger ones are scaled down.
  TAEDA_OPTION(double, d) = 1;
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// What Adafactor keeps: rows' and columns' means of a parameter with two dimensions or more, mean
/// squares of every element of others.
class AdafactorParamState final : public OptimizerCloneableParamState<AdafactorParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(row_var, col_var, variance)
};

/// Adam without momentum, whose second moments of a matrix [m, n] are the product of a column and a
/// row, m + n numbers (Shazeer and Stern 2018, arXiv:1804.04235).
class Adafactor : public RuleOptimizer<AdafactorOptions, AdafactorParamState, adafactor_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
