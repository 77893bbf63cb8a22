// Who wants to know which operations a program calls, with which arguments and results. An exporter
// follows a module's forward by it. Not part of the public interface.
#pragma once

#include <atomic>
#include <string>
#include <variant>
#include <vector>

#include "taeda/tensor/indexing.h"

namespace taeda::inline v0_2 {

/// Note [Observed operations]
/// An operation's body begins with
///
///     if (is_observed()) return observe("gelu", gelu, self, approximate);
///
/// which tells this thread's observer the call and its arguments, in the order of the declaration,
/// calls the body again, now unobserved, and tells the results. So an observer sees what a program
/// calls and nothing of what operations call for themselves. Forms in place bear a trailing
/// underscore. While nobody observes, the line costs one load and a branch. `observe_overloaded` is
/// for a name with several overloads, `observe_method` for what is a method alone.
///
/// Not every operation has the line: those that are made of others need none, because their parts
/// are seen. A kernel that runs for an operation without one is told by its own name, so that
/// nothing happens unseen.

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
  /// A kernel runs for none of the observed operations. Must not throw.
  virtual void unobserved_kernel(const char* kernel) noexcept = 0;
};

namespace detail {
inline constinit std::atomic<int> observers{0};
bool observed_here();
void begin_observed(const char* name, std::vector<ObservedValue> arguments);
void end_observed(const std::vector<Tensor>& results);

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

inline std::vector<Tensor> observed_results(const Tensor& t) { return {t}; }
inline std::vector<Tensor> observed_results(const std::vector<Tensor>& list) { return list; }
template <class... Tensors>
std::vector<Tensor> observed_results(const std::tuple<Tensors...>& tuple) {
  return std::apply([](const auto&... t) { return std::vector<Tensor>{t...}; }, tuple);
}
inline std::vector<Tensor> observed_results(const Scalar&) { return {}; }
}  // namespace detail

/// Whether an observer of this thread wants the operation that asks.
inline bool is_observed() {
  return __builtin_expect(detail::observers.load(std::memory_order_relaxed) != 0, 0) &&
         detail::observed_here();
}

/// op(arguments...), told to this thread's observer: Note [Observed operations].
template <class F, class... Args>
[[gnu::cold]] decltype(auto) observe(const char* name, const F& op, const Args&... arguments) {
  using detail::observed_value;
  detail::begin_observed(name, {observed_value(arguments)...});
  decltype(auto) result = [&]() -> decltype(auto) {
    const detail::InsideObserved inside;
    return op(arguments...);
  }();
  detail::end_observed(detail::observed_results(result));
  return result;
}

namespace detail {
/// How operations take an argument.
template <class T>
using PassedAs =
    std::conditional_t<std::is_same_v<T, Tensor> || std::is_same_v<T, Scalar> ||
                           std::is_same_v<T, OptionalScalar> || std::is_same_v<T, TensorOptions> ||
                           std::is_same_v<T, std::optional<Tensor>>,
                       const T&, T>;
}  // namespace detail

/// The same for the overload of `op` that takes `arguments` as they are and returns R.
template <class R = Tensor, class... Args>
[[gnu::cold]] R observe_overloaded(const char* name,
                                   std::type_identity_t<R> (*op)(detail::PassedAs<Args>...),
                                   const Args&... arguments) {
  return observe(name, op, arguments...);
}

/// The same for a method of `self`.
template <class R = Tensor, class... Args>
[[gnu::cold]] R observe_method(const char* name,
                               std::type_identity_t<R> (Tensor::*op)(detail::PassedAs<Args>...)
                                   const,
                               const Tensor& self, const Args&... arguments) {
  return observe(
      name, [op](const Tensor& t, const Args&... a) -> decltype(auto) { return (t.*op)(a...); },
      self, arguments...);
}

}  // namespace taeda::inline v0_2
