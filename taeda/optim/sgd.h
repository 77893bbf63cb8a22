// Stochastic gradient descent with momentum.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// The rule of a step: its fields with defaults and ranges, and the update's formula.
extern const Rule sgd_rule;

/// Options of SGD; a number out of its range is a ValueError.
struct SGDConfig {
  /// How far a step goes, at least 0.
  Setting<double> lr{usual, 1e-3};
  /// What the momentum keeps of itself in a step, at least 0; 0: there is none.
  Setting<double> momentum{usual, 0};
  /// The part of a gradient that the momentum does not take; 0 by default.
  Setting<double> dampening{usual, 0};
  /// What a step takes off each parameter, as a part of it; at least 0.
  Setting<double> weight_decay{usual, 0};
  /// Whether steps look ahead along the momentum (Nesterov).
  Setting<bool> nesterov{usual, false};
  /// Whether steps go along the gradient, so that the loss grows; false by default.
  Setting<bool> maximize{usual, false};
};
TAEDA_OPTIONS(SGDOptions, SGDConfig, sgd_rule, lr, momentum, dampening, weight_decay, nesterov,
              maximize);

/// State of SGD for a parameter: its momentum, of the parameter's shape; undefined without any.
TAEDA_PARAM_STATE(SGDParamState, momentum_buffer);

/// b = momentum * b + (1 - dampening) * g of each element, where g includes weight_decay * p; p -=
/// lr * b, or with nesterov p -= lr * (g + momentum * b) (Sutskever et al. 2013, with PyTorch's
/// place of lr).
class SGD : public RuleOptimizer<SGDOptions, SGDParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
