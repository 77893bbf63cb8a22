// Adafactor.
#pragma once

#include <optional>
#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule adafactor_rule;

/// Options of Adafactor; a number out of its range is a ValueError.
struct AdafactorConfig {
  using Eps = std::tuple<std::optional<double>, double>;
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-2};
  /// The squared gradient of step t has the weight t^beta2_decay in the means; at most 0.
  Setting<double> beta2_decay{usual, -0.8};
  /// The least root of a mean square, by default the dtype's epsilon, and the least size of
  /// parameters that steps are in proportion to.
  Setting<Eps> eps{usual, std::nullopt, 1e-3};
  /// The largest root mean square of an update's elements, at least 1; larger ones are scaled down.
  Setting<double> d{usual, 1};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(AdafactorOptions, AdafactorConfig, adafactor_rule, lr, beta2_decay, eps, d,
              weight_decay, maximize);

/// What Adafactor keeps: rows' and columns' means of a parameter with two dimensions or more, mean
/// squares of every element of others.
TAEDA_PARAM_STATE(AdafactorParamState, row_var, col_var, variance);

/// Adam without momentum, whose second moments of a matrix [m, n] are the product of a column and a
/// row, m + n numbers (Shazeer and Stern 2018, arXiv:1804.04235).
class Adafactor : public RuleOptimizer<AdafactorOptions, AdafactorParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
