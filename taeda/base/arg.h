// Accessors of option structs.
#pragma once

#include <utility>

/// Declares a private member `name_` (its default value follows the macro, in braces) with a getter
/// `name()` and a chainable setter `name(value)`, as libtorch's option structs have them:
///   struct FooOptions { TAEDA_ARG(double, rate) = 0.5; };   FooOptions().rate(0.1).rate() == 0.1
#define TAEDA_ARG(T, name)                           \
 public:                                             \
  auto name(const T& value)->decltype(*this) {       \
    name##_ = value;                                 \
    return *this;                                    \
  }                                                  \
  auto name(T&& value)->decltype(*this) {            \
    name##_ = std::move(value);                      \
    return *this;                                    \
  }                                                  \
  const T& name() const noexcept { return name##_; } \
  T& name() noexcept { return name##_; }             \
                                                     \
 private:                                            \
  T name##_
