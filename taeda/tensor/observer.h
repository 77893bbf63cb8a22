// Who wants to know which operations a program calls, with which arguments and results. An exporter
// follows a module's forward by it. Not part of the public interface.
#pragma once

#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "taeda/tensor/indexing.h"
#include "taeda/tensor/interceptors.h"

namespace taeda::inline v0_2 {

/// Note [Observed operations]
/// The door of an operation (Note [Doors of operations] in ops/door.h) tells this thread's observer
/// the call and its arguments, in the order of the declaration, calls the body, and tells the
/// results. So an observer sees what a program calls and nothing of what operations call for
/// themselves. Forms in place bear a trailing underscore, operations of a namespace its name in
/// front, as `linalg_det`. What no operation of ops/ is has a door written by hand:
///
///     if (Interceptors::any()) return Door<decltype(do_pad)>::pass(traits, do_pad, input, ...);
///
/// Operations that are made of others, `composite` by their declaration, are not told: their parts
/// are. A kernel that runs for no observed operation is told by its own name, so that nothing
/// happens unseen.

/// An argument. What is absent, and what nobody has asked for yet (options, generators), is
/// std::monostate.
using ObservedValue = std::variant<std::monostate, bool, int64_t, double, Scalar, std::string,
                                   ScalarType, std::vector<int64_t>, std::vector<double>, Tensor,
                                   std::vector<Tensor>, std::vector<TensorIndex>>;

/// Sees the operations of the thread that made it, until it is destroyed, but for those that it
/// calls itself. One at a time on a thread: a second one is an Error.
class OperationObserver {
 public:
  OperationObserver();
  virtual ~OperationObserver();
  OperationObserver(const OperationObserver&) = delete;
  OperationObserver& operator=(const OperationObserver&) = delete;

  /// Operation `name` begins. What this throws reaches whoever called the operation.
  virtual void begins(const char* name, std::vector<ObservedValue> arguments) = 0;
  /// The same operation has computed `results`; of a form in place, what it was called on. Not
  /// called if it threw.
  virtual void ends(const std::vector<Tensor>& results) = 0;
  /// Whether it wants to see the operations that `name` can be composed of in the place of `name`.
  virtual bool prefers_parts(const char* name) {
    (void)name;
    return false;
  }
  /// What an operation computed, and what those that were told in its place gave.
  virtual void replaces(const std::vector<Tensor>& results, const std::vector<Tensor>& parts) {
    (void)results, (void)parts;
  }
  /// A kernel runs for none of the observed operations. Must not throw.
  virtual void unobserved_kernel(const char* kernel) noexcept = 0;
};

namespace detail {
void begin_observed(const char* name, std::vector<ObservedValue> arguments);
void end_observed(const std::vector<Tensor>& results);
bool observer_prefers_parts(const char* name);
void tell_replaced(const std::vector<Tensor>& results, const std::vector<Tensor>& parts);

/// While it lives, the operations of this thread are parts of one that is observed.
class InsideObserved {
 public:
  InsideObserved();
  ~InsideObserved();
};

template <class T>
ObservedValue observed_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, TensorList> &&
                !std::is_convertible_v<const T&, Tensor>) {
    const TensorList list = value;
    return std::vector<Tensor>(list.begin(), list.end());
  } else if constexpr (std::is_same_v<T, ArrayRef<TensorIndex>> ||
                       std::is_same_v<T, std::initializer_list<TensorIndex>>) {
    return std::vector<TensorIndex>(value.begin(), value.end());
  } else if constexpr (std::is_same_v<T, IntArrayRef> || std::is_same_v<T, DimVector>) {
    return std::vector<int64_t>(value.begin(), value.end());
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value.has_value() ? detail::observed_value(*value) : ObservedValue();
  } else if constexpr (std::is_same_v<T, RealArg>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return std::string(value);
  } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, bool> ||
                       std::is_same_v<T, double> || std::is_same_v<T, Tensor> ||
                       std::is_same_v<T, Scalar> || std::is_same_v<T, ScalarType> ||
                       std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<int64_t>> ||
                       std::is_same_v<T, std::vector<double>>) {
    return value;
  } else {
    return {};
  }
}

/// The tensors of an operation's result.
template <class Result>
void collect_results(const Result& result, std::vector<Tensor>& tensors) {
  if constexpr (std::is_same_v<Result, Tensor>)
    tensors.push_back(result);
  else if constexpr (std::is_same_v<Result, std::vector<Tensor>>)
    tensors.insert(tensors.end(), result.begin(), result.end());
  else if constexpr (requires { std::tuple_size<Result>::value; })
    std::apply([&](const auto&... part) { (collect_results(part, tensors), ...); }, result);
}
template <class Result>
std::vector<Tensor> results_of(const Result& result) {
  std::vector<Tensor> tensors;
  collect_results(result, tensors);
  return tensors;
}
}  // namespace detail

/// Whether an observer of this thread wants the operation that asks.
inline bool is_observed() { return Interceptors::has(Interceptors::kObserver); }

/// op(arguments...), told to this thread's observer: Note [Observed operations].
template <class F, class... Args>
[[gnu::cold]] decltype(auto) observe(const char* name, const F& op, const Args&... arguments) {
  using detail::observed_value;
  detail::begin_observed(name, {observed_value(arguments)...});
  decltype(auto) result = [&]() -> decltype(auto) {
    const detail::InsideObserved inside;
    return op(arguments...);
  }();
  detail::end_observed(detail::results_of(result));
  return result;
}

}  // namespace taeda::inline v0_2
