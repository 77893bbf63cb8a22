// Rules of optimizers as data and functions over tensors. Classes, in C++ and in Python, are their
// faces: they keep options and states as their language does, and lend them to a rule's step.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "taeda/base/array_ref.h"
#include "taeda/kernels/param_list.h"
#include "taeda/kernels/step_formulas.h"
#include "taeda/optim/options.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::optim {

/// What an option may be.
enum class Range : uint8_t {
  Any,
  Number,
  AtLeast0,
  Above0,
  From0Below1,
  From0To1,
  AtMost0,
  AtLeast1
};

/// What an option is to a program.
enum class OptionKind : uint8_t { Number, Whole, Flag, Word };

/// A number of an option: how it is called, what it may be, and where it lies. `field` makes it of
/// the member of a struct of options, with what that is by default.
struct RuleField {
  const char* name;  ///< in files, and as `OptimizerOptions::visit` says it: "beta1"
  Range range = Range::Any;
  const char* refusal = "";          ///< how an error for a value out of its range begins
  const char* option = name;         ///< as PyTorch's groups have it: "betas"
  double none = 0;                   ///< what None is; unless it is 0, it is no value
  ArrayRef<const char*> words = {};  ///< texts that the option may be, in order
  const char* refusal_end = "";      ///< how an error for an unknown text ends
  int part = -1;                     ///< which number of a tuple it is; -1: the option is a number
  double fallback = 0;               ///< where a program says nothing
  OptionKind kind = OptionKind::Flag;
  bool plain_error = false;  ///< for an unknown text: Error, as PyTorch, and no ValueError
  /// Of a struct of options; nullptr for what Python alone has.
  double (*read)(const RuleField& field, const void* config) = nullptr;
  void (*write)(const RuleField& field, void* config, double value) = nullptr;
  bool (*is_named)(const void* config) = nullptr;
  /// The option's default is None.
  bool is_none() const { return kind == OptionKind::Word || (none != 0 && fallback == none); }
};

/// How far a parameter is: its steps, and the numbers of its state. A face that keeps numbers as
/// float32 says `single`, so that a step sees what later steps read.
struct StepCount {
  double step = 0;
  double numbers[2] = {};
  bool single = false;
  bool fresh = false;  ///< the first of the states was made for this step
  double set(size_t k, double value) {
    return numbers[k] = single ? static_cast<double>(static_cast<float>(value)) : value;
  }
};

/// A tensor of a parameter's state. A nullptr among the functions means: always, 0, the
/// parameter's. A formula sees those that are wanted, in the rule's order.
struct RuleState {
  const char* name;
  bool (*wanted)(const double* values) = nullptr;
  double (*start)(const double* values) = nullptr;  ///< what fills it first
  std::optional<DimVector> (*sizes)(IntArrayRef param) = nullptr;
};

/// Copies of a parameter, or of rows of it, and of its state, which a step changes.
struct StepTensors {
  Tensor grad, param;
  Tensor states[ParamRef::kMaxStates];
  double step;           ///< that is being made: 1 at first
  StepValues numbers{};  ///< of the step
  Tensor live{};         ///< in a graph: the numbers of the replay, float64 on the device
  /// t *= the k-th number, t moves towards `end` by it, and t += change * it * factor.
  void scale(Tensor& t, int k) const;
  void approach(Tensor& t, const Tensor& end, int k) const;
  void add(Tensor& t, const Tensor& change, int k, double factor = 1) const;
  /// t += change * by, a float64 number on the device.
  static void add(Tensor& t, const Tensor& change, const Tensor& by);
};

/// The rule of an optimizer. What a step does is a formula, or operations on copies; `formula`
/// tells the numbers of either. `values` are the fields' numbers, in order.
struct Rule {
  static constexpr size_t kMostFields = 16;
  const char* name;
  ArrayRef<RuleField> fields;
  ArrayRef<RuleState> states{};
  ArrayRef<const char*> numbers{};  ///< names of the numbers of a parameter's state
  void (*first_numbers)(const double* values, StepCount& count) = nullptr;
  bool counts = true;        ///< steps are a part of the state
  bool waits = false;        ///< only the host can take a step off the count: `leave_out` does not
  bool complex = true;       ///< complex parameters are pairs of reals
  const char* instead = "";  ///< ends the error for a sparse gradient
  /// What the options must be together, and what a parameter must be: throw ValueError.
  void (*check)(const double* values) = nullptr;
  void (*check_param)(const Tensor& param, size_t index) = nullptr;
  /// The numbers of the step that `count` has begun, of which it takes note.
  StepValues (*formula)(const double* values, StepCount& count) = nullptr;
  void (*update)(const double* values, StepTensors& tensors) = nullptr;
  /// What becomes of the rows that a sparse gradient has; without, there is none.
  void (*rows)(const double* values, StepTensors& tensors) = nullptr;
  /// Whether a sparse gradient is taken as a dense one.
  bool (*sparse_as_dense)(const double* values) = nullptr;
  bool dense = true;  ///< takes dense gradients
  /// Whether the k-th state is a part of a step with these options.
  bool wants(const double* values, size_t k) const {
    return !states[k].wanted || states[k].wanted(values);
  }
  /// The sizes of the k-th state of a parameter; nothing where it has no such state.
  std::optional<DimVector> sizes(size_t k, IntArrayRef param) const {
    return states[k].sizes ? states[k].sizes(param) : DimVector(param);
  }
};

/// All rules by their names; nullptr for another name.
const Rule* find_rule(std::string_view name);

/// The first field whose value is out of range, or nullptr. Throws what the rule's own check does.
const RuleField* wrong_field(const Rule& rule, const double* values);
/// The numbers of options that have the rule, in the order of its fields, and back.
void read_values(const Rule& rule, const OptimizerOptions& options, double* values);
void write_values(const Rule& rule, OptimizerOptions& options, const double* values);

namespace detail {

// Options as numbers. They throw ValueError for a text that is none of the field's words (or Error,
// as the field says), and for a number that the option cannot be.
constexpr double to_number(const RuleField&, double value) { return value; }
constexpr double to_number(const RuleField&, bool value) { return value; }
constexpr double to_number(const RuleField&, int64_t value) { return static_cast<double>(value); }
double to_place(const RuleField& field, const std::string& word);
constexpr double to_number(const RuleField& field, const std::optional<std::string>& word) {
  return word ? to_place(field, *word) : 0;
}
void refuse_none(const RuleField& field, double value);
template <class T>
constexpr double to_number(const RuleField& field, const std::optional<T>& value) {
  if (!value) return field.none;
  if (*value == field.none) refuse_none(field, field.none);
  return static_cast<double>(*value);
}
inline void set_number(const RuleField&, double& to, double value) { to = value; }
inline void set_number(const RuleField&, bool& to, double value) { to = value != 0; }
void set_number(const RuleField& field, int64_t& to, double value);
void set_number(const RuleField& field, std::optional<std::string>& to, double value);
template <class T>
void set_number(const RuleField& field, std::optional<T>& to, double value) {
  to.reset();
  if (value != field.none) set_number(field, to.emplace(), value);
}

template <class T>
constexpr OptionKind kind_of() {
  if (std::is_same_v<T, bool>) return OptionKind::Flag;
  if (std::is_same_v<T, int64_t> || std::is_same_v<T, std::optional<int64_t>>)
    return OptionKind::Whole;
  return std::is_same_v<T, std::optional<std::string>> ? OptionKind::Word : OptionKind::Number;
}
template <int kPart>
constexpr auto& part(auto& option) {
  if constexpr (kPart < 0)
    return option;
  else
    return std::get<kPart>(option);
}
template <class Config, class T>
Config config_of(Setting<T> Config::*);

}  // namespace detail

/// A field of a member, `field<&AdamConfig::lr>({"lr"})`, or of a part of one that is a tuple.
template <auto kMember, int kPart = -1>
constexpr RuleField field(RuleField f) {
  using Config = decltype(detail::config_of(kMember));
  Config usually;
  const auto& fallback = detail::part<kPart>((usually.*kMember)());
  f.part = kPart;
  f.fallback = detail::to_number(f, fallback);
  f.kind = detail::kind_of<std::decay_t<decltype(fallback)>>();
  f.read = [](const RuleField& of, const void* config) {
    return detail::to_number(of,
                             detail::part<kPart>((static_cast<const Config*>(config)->*kMember)()));
  };
  f.write = [](const RuleField& of, void* config, double value) {
    auto& setting = static_cast<Config*>(config)->*kMember;
    auto option = setting();
    detail::set_number(of, detail::part<kPart>(option), value);
    setting(std::move(option));
  };
  f.is_named = [](const void* config) {
    return (static_cast<const Config*>(config)->*kMember).is_named();
  };
  return f;
}

// What several rules have.

template <auto kMember>
constexpr RuleField rate_field(const char* refusal = "Invalid learning rate: ") {
  return field<kMember>({"lr", Range::AtLeast0, refusal});
}
template <auto kMember, int kWhich>
constexpr RuleField beta_field() {
  return field<kMember, kWhich>({kWhich == 0   ? "beta1"
                                 : kWhich == 1 ? "beta2"
                                               : "beta3",
                                 Range::From0Below1,
                                 kWhich == 0   ? "Invalid beta parameter at index 0: "
                                 : kWhich == 1 ? "Invalid beta parameter at index 1: "
                                               : "Invalid beta parameter at index 2: ",
                                 "betas"});
}
template <auto kMember>
constexpr RuleField eps_field() {
  return field<kMember>({"eps", Range::AtLeast0, "Invalid epsilon value: "});
}
template <auto kMember>
constexpr RuleField decay_field() {
  return field<kMember>({"weight_decay", Range::AtLeast0, "Invalid weight_decay value: "});
}

/// 1 - beta^step.
inline double correction(double beta, double step) { return 1 - std::pow(beta, step); }
inline Descent<double> descent(double decay, bool maximize) {
  return {maximize ? -1.0 : 1.0, decay};
}
/// With a decay that shrinks the parameter if it is `decoupled`.
inline ShrinkingDescent<double> descent(double lr, double decay, bool decoupled, bool maximize) {
  return {descent(decoupled ? 0 : decay, maximize), decoupled ? 1 - lr * decay : 1};
}

}  // namespace taeda::inline v0_2::optim
