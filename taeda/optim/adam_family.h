// Relatives of Adam: Adamax, NAdam, RAdam.
#pragma once

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adamax; a number out of its range is a ValueError.
class AdamaxOptions : public RuleOptions<AdamaxOptions, adamax_rule> {
 public:
  TAEDA_LEARNING_RATE(AdamaxOptions, 2e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_MAXIMIZE();
};

/// State of Adamax for a parameter: the count of steps and tensors of the parameter's shape.
class AdamaxParamState final : public OptimizerCloneableParamState<AdamaxParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_inf)
};

/// Adam with the largest of the decayed gradients of an element in place of their mean square
/// (Kingma and Ba 2015, arXiv:1412.6980, section 7.1).
class Adamax : public RuleOptimizer<AdamaxOptions, AdamaxParamState, adamax_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Options of NAdam; a number out of its range is a ValueError.
class NAdamOptions : public RuleOptions<NAdamOptions, nadam_rule> {
 public:
  TAEDA_LEARNING_RATE(NAdamOptions, 2e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  /// How fast the momentum grows, at least 0.
  TAEDA_OPTION(double, momentum_decay) = 4e-3;
  TAEDA_DECOUPLED_WEIGHT_DECAY();
  TAEDA_MAXIMIZE();
};

/// State of NAdam for a parameter: the count of steps and tensors of the parameter's shape.
class NAdamParamState final : public OptimizerCloneableParamState<NAdamParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_avg_sq)
};

/// Adam with Nesterov's momentum, whose weight grows with the steps to its default (Dozat 2016).
class NAdam : public RuleOptimizer<NAdamOptions, NAdamParamState, nadam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Options of RAdam; a number out of its range is a ValueError.
class RAdamOptions : public RuleOptions<RAdamOptions, radam_rule> {
 public:
  TAEDA_LEARNING_RATE(RAdamOptions, 1e-3)
  void visit(const NumberVisitor& f) override;
  TAEDA_BETAS(0.9, 0.999);
  TAEDA_EPS(1e-8);
  TAEDA_WEIGHT_DECAY(0);
  TAEDA_DECOUPLED_WEIGHT_DECAY();
  TAEDA_MAXIMIZE();
};

/// State of RAdam for a parameter: the count of steps and tensors of the parameter's shape.
class RAdamParamState final : public OptimizerCloneableParamState<RAdamParamState> {
 public:
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSORS(exp_avg, exp_avg_sq)
};

/// Adam without its second moment until there are enough steps to know it, by default 5, and with
/// its variance rectified from then on (Liu et al. 2020, arXiv:1908.03265).
class RAdam : public RuleOptimizer<RAdamOptions, RAdamParamState, radam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
