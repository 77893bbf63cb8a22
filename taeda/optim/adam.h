// Adam and AdamW.
#pragma once

#include <tuple>

#include "taeda/optim/optimizer.h"

namespace taeda::inline v0_2::optim {

/// Options of Adam and AdamW, which differ in the default of `weight_decay` only.
template <class Derived>
class AdamOptionsBase : public OptimizerCloneableOptions<Derived> {
 public:
  using Betas = std::tuple<double, double>;
  explicit AdamOptionsBase(double weight_decay) : weight_decay_(weight_decay) {}
  void check() const override;
  void visit(const NumberVisitor& f) override;
  double* momentum_like() override { return &std::get<0>(betas_); }

  /// Each sets an option and returns the options; without an argument it returns the value.
  Derived& lr(double v) { return set("lr", lr_, v); }
  double lr() const { return lr_; }
  Derived& betas(Betas v) { return set("betas", betas_, v); }
  const Betas& betas() const { return betas_; }
  Derived& eps(double v) { return set("eps", eps_, v); }
  double eps() const { return eps_; }
  Derived& weight_decay(double v) { return set("weight_decay", weight_decay_, v); }
  double weight_decay() const { return weight_decay_; }
  Derived& amsgrad(bool v) { return set("amsgrad", amsgrad_, v); }
  bool amsgrad() const { return amsgrad_; }
  Derived& maximize(bool v) { return set("maximize", maximize_, v); }
  bool maximize() const { return maximize_; }

 private:
  template <class T>
  Derived& set(const char* name, T& member, T value) {
    this->note(name);
    member = value;
    return static_cast<Derived&>(*this);
  }
  double lr_ = 1e-3;
  Betas betas_{0.9, 0.999};
  double eps_ = 1e-8;
  double weight_decay_;
  bool amsgrad_ = false;
  bool maximize_ = false;
};

class AdamOptions final : public AdamOptionsBase<AdamOptions> {
 public:
  AdamOptions() : AdamOptionsBase(0) {}
  AdamOptions(double lr) : AdamOptions() { this->lr(lr); }
};

class AdamWOptions final : public AdamOptionsBase<AdamWOptions> {
 public:
  AdamWOptions() : AdamOptionsBase(1e-2) {}
  AdamWOptions(double lr) : AdamWOptions() { this->lr(lr); }
};

// Compiled once, in adam.cpp.
extern template class AdamOptionsBase<AdamOptions>;
extern template class AdamOptionsBase<AdamWOptions>;

/// What Adam keeps for a parameter.
class AdamParamState final : public OptimizerCloneableParamState<AdamParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
  TAEDA_STATE_TENSOR(2, max_exp_avg_sq)
};

/// What AdamW keeps for a parameter.
class AdamWParamState final : public OptimizerCloneableParamState<AdamWParamState> {
 public:
  static constexpr const char* kNames[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  ArrayRef<const char*> tensor_names() const override { return kNames; }
  TAEDA_STATE_STEP()
  TAEDA_STATE_TENSOR(0, exp_avg)
  TAEDA_STATE_TENSOR(1, exp_avg_sq)
  TAEDA_STATE_TENSOR(2, max_exp_avg_sq)
};

extern const Rule adam_rule;  ///< What a step does to a parameter and its state.

/// Adam (Kingma and Ba 2015), AMSGrad (Reddi et al. 2018). Weight decay is added to the gradient.
class Adam : public RuleOptimizer<AdamOptions, AdamParamState, adam_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

extern const Rule adamw_rule;  ///< What a step does to a parameter and its state.

/// Adam with decoupled weight decay (Loshchilov and Hutter 2019): p *= 1 - lr * weight_decay first.
class AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState, adamw_rule> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace taeda::inline v0_2::optim
