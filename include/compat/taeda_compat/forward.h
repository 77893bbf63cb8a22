// Macros that give a function or a method a second name; functions.h takes them back.
#pragma once

#include <taeda_compat/namespaces.h>

#include <concepts>
#include <utility>

#define TAEDA_COMPAT_FORWARD(name, target)                                   \
  template <class... Args>                                                   \
  auto name(Args&&... args)->decltype(target(std::forward<Args>(args)...)) { \
    return target(std::forward<Args>(args)...);                              \
  }                                                                          \
  static_assert(true)
#define TAEDA_COMPAT_METHOD(name)                                                                 \
  template <class T, class... Args>                                                               \
  requires(std::derived_from<std::remove_cvref_t<T>, Tensor>) auto name(T&& self, Args&&... args) \
      ->decltype(self.name(std::forward<Args>(args)...)) {                                        \
    return self.name(std::forward<Args>(args)...);                                                \
  }                                                                                               \
  static_assert(true)
