// What an optimizer is told of a group of parameters.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "taeda/base/arg.h"
#include "taeda/optim/param_state.h"

namespace taeda::inline v0_2::optim {

struct Rule;
/// The rules of the library's optimizers: fields with defaults and ranges, and an update's formula.
extern const Rule adadelta_rule, adafactor_rule, adagrad_rule, adam_rule, adamax_rule, adamw_rule,
    ademamix_rule, asgd_rule, lion_rule, muon_rule, nadam_rule, radam_rule, rmsprop_rule,
    rprop_rule, sgd_rule, sparse_adam_rule;

/// A function that gets each number of an options struct with its name, and gives the value that it
/// shall have; to leave it, it must return it.
using NumberVisitor = std::function<double(const char* name, double value)>;

/// Declares an option, with a default behind it, that is read and set by calls, and notes that a
/// program has set it.
#define TAEDA_OPTION(T, name)                                                              \
 public:                                                                                   \
  auto name(const T& v)->decltype(*this) { return this->note(#name), name##_ = v, *this; } \
  const T& name() const noexcept { return name##_; }                                       \
  T& name() noexcept { return name##_; }                                                   \
                                                                                           \
 private:                                                                                  \
  T name##_
/// The learning rate, at least 0, else ValueError; its default, and constructors of the options.
#define TAEDA_LEARNING_RATE(Options, rate)   \
  Options() = default;                       \
  Options(double v) : lr_(v) { note("lr"); } \
  TAEDA_OPTION(double, lr) = rate;           \
                                             \
 public:
/// The parts that the running means of gradients and of their squares keep of themselves in a step,
/// each at least 0 and below 1, else ValueError.
#define TAEDA_BETAS(beta1, beta2)                                   \
 public:                                                            \
  using Betas = std::tuple<double, double>;                         \
  double* momentum_like() override { return &std::get<0>(betas_); } \
  TAEDA_OPTION(Betas, betas) = {beta1, beta2}
/// What keeps divisors from 0, at least 0, else ValueError.
#define TAEDA_EPS(value) TAEDA_OPTION(double, eps) = value
/// What a step takes off each parameter, as a part of it; at least 0, else
/// ValueError.
#define TAEDA_WEIGHT_DECAY(value) TAEDA_OPTION(double, weight_decay) = value
/// Whether weight decay multiplies parameters, rather than being added to gradients; false by
/// default.
#define TAEDA_DECOUPLED_WEIGHT_DECAY() TAEDA_OPTION(bool, decoupled_weight_decay) = false
/// Whether steps go along the gradient, so that the loss grows; false by default.
#define TAEDA_MAXIMIZE() TAEDA_OPTION(bool, maximize) = false

/// Options of a parameter group, numbers by name; the library's classes have ranges, and a number
/// outside of one is a ValueError.
class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  /// Throws Error for options without a learning rate, as set_lr, which throws ValueError for NaN.
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// The rule that names these options and knows their ranges; nullptr, the default, for options of
  /// programs.
  virtual const Rule* rule() const { return nullptr; }
  /// Throws ValueError for values that the optimizer cannot work with: those that its rule refuses.
  virtual void check() const;
  /// Replaces every number by what the visitor gives, to save and load; the default does nothing.
  virtual void visit(const NumberVisitor&) {}
  /// Momentum as the one-cycle schedule moves it, SGD's momentum or Adam's beta1; nullptr, the
  /// default, without one.
  virtual double* momentum_like() { return nullptr; }
  /// Writes the numbers to an archive, and reads them, by their names; a missing one is an Error.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);

  /// Takes from an optimizer's options all that was not named here: neither set by name nor
  /// different from the class's defaults. All of it is named then.
  void inherit(const OptimizerOptions& defaults);
  /// Whether both are of one class with the same numbers.
  friend bool operator==(const OptimizerOptions& a, const OptimizerOptions& b);

 protected:
  void note(const char* option);
  static void check_lr(double lr);
  virtual std::unique_ptr<OptimizerOptions> stock() const { return nullptr; }

 private:
  bool is_named(std::string_view number) const;
  std::vector<const char*> named_;
  bool all_named_ = false;
};

/// Gives an options struct `clone` and, where it has a rate `lr`, `get_lr` and `set_lr`, which
/// otherwise throw Error.
template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::unique_ptr<OptimizerOptions>(new Derived(static_cast<const Derived&>(*this)));
  }
  double get_lr() const override {
    if constexpr (requires(const Derived& d) { d.lr(); })
      return static_cast<const Derived&>(*this).lr();
    else
      return OptimizerOptions::get_lr();
  }
  void set_lr(double lr) override {
    this->check_lr(lr);
    if constexpr (requires(Derived & d) { d.lr(lr); })
      static_cast<Derived&>(*this).lr(lr);
    else
      OptimizerOptions::set_lr(lr);
  }

 protected:
  std::unique_ptr<OptimizerOptions> stock() const override {
    if constexpr (std::is_default_constructible_v<Derived>)
      return std::unique_ptr<OptimizerOptions>(new Derived());
    else if constexpr (std::is_constructible_v<Derived, double>)
      return std::unique_ptr<OptimizerOptions>(new Derived(0.0));
    else
      return OptimizerOptions::stock();
  }
};

/// The base of the options of a rule of the library. `visit` must list them in the order of the
/// rule's fields.
template <class Derived, const Rule& kRule>
class RuleOptions : public OptimizerCloneableOptions<Derived> {
 public:
  const Rule* rule() const override { return &kRule; }
};

}  // namespace taeda::inline v0_2::optim
