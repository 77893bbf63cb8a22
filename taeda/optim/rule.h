// Rules of optimizers as data and functions over tensors. Classes, in C++ and in Python, are their
// faces: they keep options and states as their language does, and lend them to a rule's step.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

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

/// An option, as a number.
struct RuleField {
  const char* name;    ///< as `OptimizerOptions::visit` says it: "beta1"
  const char* option;  ///< as PyTorch's groups have it: "betas"
  int part;            ///< which number of a tuple it is there; -1: the option is a number
  double fallback;     ///< where a program says nothing
  Range range = Range::Any;
  const char* refusal = "";  ///< how an error for a value out of its range begins
  const char* meaning = "";
  double none = 0;                ///< what None means
  ArrayRef<const char*> words{};  ///< texts that the option may be, in order
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
  ArrayRef<RuleState> states;
  ArrayRef<const char*> numbers{};  ///< names of the numbers of a parameter's state
  void (*first_numbers)(const double* values, StepCount& count) = nullptr;
  bool counts = true;        ///< steps are a part of the state
  bool waits = false;        ///< only the host can take a step off the count: `leave_out` does not
  bool complex = true;       ///< complex parameters are pairs of reals
  const char* instead = "";  ///< ends the error for a sparse gradient
  /// What the options must be together: throws ValueError.
  void (*check)(const double* values) = nullptr;
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
/// The options' numbers, in the order of the rule's fields.
void read_values(const Rule& rule, OptimizerOptions& options, double* values);
/// Options as a visitor sees them: as numbers, with the names of the rule's fields in their order.
class RuleNumbers {
 public:
  RuleNumbers(const Rule& rule, const NumberVisitor& visitor) : rule_(rule), visitor_(visitor) {}
  /// Gives an option to the visitor and takes over what it returns. Throws ValueError for a number
  /// that stands for none of the field's words.
  void show(double& option);
  void show(bool& option);
  void show(int64_t& option);
  void show(std::optional<double>& option);
  void show(std::optional<std::string>& option);
  template <class... Part>
  void show(std::tuple<Part...>& option) {
    std::apply([this](auto&... part) { (show(part), ...); }, option);
  }

 private:
  double next(double value);

  const Rule& rule_;
  const NumberVisitor& visitor_;
  size_t shown_ = 0;
};
template <class... Option>
void visit_numbers(const Rule& rule, const NumberVisitor& visitor, Option&... options) {
  RuleNumbers numbers(rule, visitor);
  (numbers.show(options), ...);
}

/// Throws ValueError for options that the rule cannot work with.
void check_values(const Rule& rule, const OptimizerOptions& options);

// What several rules have.

inline constexpr RuleField rate_field(double fallback,
                                      const char* refusal = "Invalid learning rate: ") {
  return {"lr", "lr", -1, fallback, Range::AtLeast0, refusal, "learning rate"};
}
inline constexpr RuleField beta_field(int which, double fallback) {
  return {which ? "beta2" : "beta1",
          "betas",
          which,
          fallback,
          Range::From0Below1,
          which ? "Invalid beta parameter at index 1: " : "Invalid beta parameter at index 0: ",
          "what a mean keeps of itself in a step"};
}
inline constexpr RuleField eps_field(double fallback) {
  return {"eps",
          "eps",
          -1,
          fallback,
          Range::AtLeast0,
          "Invalid epsilon value: ",
          "keeps divisors from 0"};
}
inline constexpr RuleField decay_field(double fallback = 0) {
  return {"weight_decay",
          "weight_decay",
          -1,
          fallback,
          Range::AtLeast0,
          "Invalid weight_decay value: ",
          "what a step takes off each parameter"};
}
inline constexpr RuleField flag_field(const char* name, const char* meaning = "") {
  return {name, name, -1, 0, Range::Any, "", meaning};
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
