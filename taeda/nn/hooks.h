// Hooks around the forward of a module, and the call that runs them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/base/hook_list.h"
#include "taeda/base/intrusive_ptr.h"
#include "taeda/base/tracing.h"
#include "taeda/nn/module.h"

namespace taeda::inline v0_2::nn {

/// What hangs on a module. Inputs are the tensors among the arguments of forward, in order; the
/// output is what forward returns or, of a tuple or a vector, its first tensor (undefined if there
/// is none).
struct ModuleHooks : RefCounted {
  using Inputs = std::vector<Tensor>;
  /// A hook before forward, which may replace tensors in the vector of inputs, but must not change
  /// its size.
  using Pre = std::function<void(Module&, Inputs&)>;
  /// A hook after forward, with inputs and output; a defined result replaces the output, an
  /// undefined one leaves it.
  using Post = std::function<Tensor(Module&, const Inputs&, const Tensor& output)>;
  /// A hook of backward, with the gradients of the inputs and of the output, which may be
  /// undefined; an element of its result that is defined replaces the gradient of that input.
  using Backward = std::function<std::vector<Tensor>(Module&, const Inputs& grad_inputs,
                                                     const Tensor& grad_output)>;
  /// A hook before the backward hooks, with the gradients of the output; a defined result replaces
  /// them, an undefined one leaves them.
  using BackwardPre = std::function<Tensor(Module&, const Tensor& grad_output)>;
  HookList<Pre> pre;
  HookList<Post> post;
  HookList<Backward> backward;
};

/// Each returns a handle for `remove_hook`. Hooks may come and go while other threads call the
/// module: a call runs those that there were when it began. Backward hooks belong to the calls that
/// were made while they were registered; those of a module that is gone by then are not run (one
/// that no shared pointer owns must outlive its graphs).
HookHandle register_forward_pre_hook(Module& module, ModuleHooks::Pre hook);
HookHandle register_forward_hook(Module& module, ModuleHooks::Post hook);
HookHandle register_full_backward_hook(Module& module, ModuleHooks::Backward hook);
HookHandle register_full_backward_pre_hook(Module& module, ModuleHooks::BackwardPre hook);
/// Removes the hook of this handle; a handle that is not one of this module's is no error, and
/// nothing happens.
void remove_hook(Module& module, HookHandle handle);

namespace detail {

/// How many hooks of all modules there are (global_hooks.h).
extern std::atomic<int> hooks_of_all_modules;

/// Tells that `module` is being called.
void enter_call(tracing::Span& span, const Module& module);

/// Runs the hooks around `forward`, which reads the inputs it is given.
Tensor call_with_hooks(Module& module, ModuleHooks::Inputs inputs,
                       const std::function<Tensor(const ModuleHooks::Inputs&)>& forward);

template <class T>
constexpr bool is_tensor = std::is_same_v<std::decay_t<T>, Tensor>;

/// The argument, or for a tensor the next one of `inputs`.
template <class T>
decltype(auto) pick(T&& argument, const ModuleHooks::Inputs& inputs, size_t& next) {
  if constexpr (is_tensor<T>)
    return (inputs[next++]);
  else
    return std::forward<T>(argument);
}

// The first tensor in a result of forward, or nullptr.
inline Tensor* first_tensor(Tensor& t) { return &t; }
template <class T>
Tensor* first_tensor(T&) {
  return nullptr;
}
template <class T>
Tensor* first_tensor(std::vector<T>& list);
template <class A, class B>
Tensor* first_tensor(std::pair<A, B>& pair);
template <class... T>
Tensor* first_tensor(std::tuple<T...>& tuple);

template <class T>
Tensor* first_tensor(std::vector<T>& list) {
  return list.empty() ? nullptr : first_tensor(list.front());
}
template <class A, class B>
Tensor* first_tensor(std::pair<A, B>& pair) {
  Tensor* t = first_tensor(pair.first);
  return t ? t : first_tensor(pair.second);
}
template <class... T>
Tensor* first_tensor(std::tuple<T...>& tuple) {
  Tensor* found = nullptr;
  std::apply([&](auto&... e) { ((found = found ? found : first_tensor(e)), ...); }, tuple);
  return found;
}

template <class M, class... Args>
auto forward_with_hooks(M& module, Args&&... args) {
  using Result = decltype(module.forward(args...));
  std::optional<Result> result;
  Tensor* place = nullptr;
  ModuleHooks::Inputs inputs;
  [[maybe_unused]] const auto collect = [&](const auto& a) {
    if constexpr (is_tensor<decltype(a)>) inputs.push_back(a);
  };
  (collect(args), ...);
  const auto forward = [&](const ModuleHooks::Inputs& given) {
    size_t next = 0;
    // Braces: the inputs are picked from left to right.
    const std::tuple<decltype(pick(args, given, next))...> picked{pick(args, given, next)...};
    result.emplace(std::apply([&](auto&... a) { return module.forward(a...); }, picked));
    place = first_tensor(*result);
    return place ? *place : Tensor();
  };
  Tensor output = call_with_hooks(module, std::move(inputs), forward);
  if (place) *place = std::move(output);
  return std::move(*result);
}

}  // namespace detail

/// Calls `module.forward(args...)` with its hooks. An Error that leaves it names the module.
template <class M, class... Args>
auto call(M& module, Args&&... args) -> decltype(module.forward(std::forward<Args>(args)...)) {
  using Result = decltype(module.forward(std::forward<Args>(args)...));
  tracing::Span span;
  if (tracing::wants(tracing::kModules | tracing::kScopes)) [[unlikely]]
    detail::enter_call(span, module);
  try {
    if constexpr (std::is_same_v<std::decay_t<Result>, Result> && !std::is_void_v<Result>)
      if (module.hooks() || detail::hooks_of_all_modules.load(std::memory_order_relaxed) > 0)
          [[unlikely]]
        return detail::forward_with_hooks(module, std::forward<Args>(args)...);
    return module.forward(std::forward<Args>(args)...);
  } catch (Error& e) {
    e.enter_module(module.key(), module.name());
    throw;
  }
}

}  // namespace taeda::inline v0_2::nn
