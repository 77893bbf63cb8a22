// What an optimizer is told of a group of parameters.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "taeda/base/option.h"
#include "taeda/optim/param_state.h"

namespace taeda::inline v0_2::optim {

struct Rule;

/// A function that gets each number of an options struct with its name, and gives the value that it
/// shall have; to leave it, it must return it.
using NumberVisitor = std::function<double(const char* name, double value)>;

/// Says that what follows is what a setting is where a program does not name it.
struct Usual {};
inline constexpr Usual usual;

/// A field of a struct of options that knows whether a program named it. It is its value, and can
/// be called as an Option: without arguments for the value, with one to set it.
template <class T>
class Setting {
 public:
  using Type = T;
  template <class... V>
  constexpr Setting(Usual, V&&... value) : value_(std::forward<V>(value)...) {}
  template <class... V>
  requires(std::constructible_from<T, V...> &&
           !(std::same_as<std::decay_t<V>, Setting> || ...)) constexpr Setting(V&&... value)
      : value_(std::forward<V>(value)...), named_(true) {}

  constexpr operator const T&() const { return value_; }
  constexpr const T& operator()() const { return value_; }
  /// What is changed here counts as named if it is other than usual.
  constexpr T& operator()() { return value_; }
  constexpr void operator()(T value) { *this = Setting(std::move(value)); }
  constexpr bool is_named() const { return named_; }

 private:
  T value_;
  bool named_ = false;
};

/// Options of a parameter group, numbers by name; the library's classes have ranges, and a number
/// outside of one is a ValueError.
class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  /// Throws Error for options without a learning rate, as set_lr, which throws ValueError for NaN.
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  /// The rule that lists the fields of these options, and the struct that they lie in; nullptr, the
  /// default, for options of programs.
  virtual const Rule* rule() const { return nullptr; }
  virtual void* config() { return nullptr; }
  const void* config() const { return const_cast<OptimizerOptions*>(this)->config(); }
  /// Throws ValueError for values that the optimizer cannot work with: those that its rule refuses.
  virtual void check() const;
  /// Replaces every number by what the visitor gives, to save and load; the default does so for
  /// the fields that the rule lists.
  virtual void visit(const NumberVisitor& visitor);
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
  static void check_lr(double lr);
  virtual std::unique_ptr<OptimizerOptions> stock() const { return nullptr; }

 private:
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

/// The base of the options of a rule of the library: its struct, as an object that knows its class.
template <class Derived, class C, const Rule& kOf>
class RuleOptions : public OptimizerCloneableOptions<Derived>, public C {
 public:
  using Config = C;
  static constexpr const Rule& kRule = kOf;
  using OptimizerOptions::config;
  RuleOptions() = default;
  RuleOptions(Config options) : Config(std::move(options)) {}
  RuleOptions(double rate) { Config::lr(rate); }
  const Rule* rule() const override { return &kRule; }
  void* config() override { return static_cast<Config*>(this); }
  double* momentum_like() override {
    if constexpr (requires(Config & c) { c.momentum; })
      return &Config::momentum();
    else if constexpr (requires(Config & c) { c.betas; })
      return &std::get<0>(Config::betas());
    else
      return nullptr;
  }
};

/// Declares the class that groups keep a struct of options in, with the accessors of its fields.
#define TAEDA_OPTIONS(Options, Config, rule, ...)             \
  class Options : public RuleOptions<Options, Config, rule> { \
   public:                                                    \
    using RuleOptions::RuleOptions;                           \
    TAEDA_EACH(TAEDA_OPTION, __VA_ARGS__)                     \
  }

}  // namespace taeda::inline v0_2::optim
