// The fields that structs of options are made of.
#pragma once

#include <type_traits>
#include <utility>

namespace taeda::inline v0_2 {

/// A field of a struct of options. It is its value, but for two things. One that has no default
/// must be given, or the program does not compile. And it can be called: without arguments for its
/// value, with one to set it, as programs written for libtorch read the options of a module.
template <class T, bool = std::is_class_v<T>>
class Option : public T {
 public:
  using Type = T;
  using T::T;
  Option() = delete;
  Option(const T& value) : T(value) {}
  Option(T&& value) : T(std::move(value)) {}

  const T& operator()() const { return *this; }
  T& operator()() { return *this; }
  void operator()(T value) { static_cast<T&>(*this) = std::move(value); }
};

template <class T>
class Option<T, false> {
 public:
  using Type = T;
  Option() = delete;
  constexpr Option(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

  constexpr const T& operator()() const { return value_; }
  constexpr T& operator()() { return value_; }
  constexpr void operator()(T value) { value_ = value; }

 private:
  T value_;
};

}  // namespace taeda::inline v0_2

/// The accessors of a field of `Config` in a class that derives from it, as programs written for
/// libtorch read and set options, one after another: `AdamOptions(0.1).eps(1e-6)`.
#define TAEDA_OPTION(name)                                     \
  auto& name(const typename decltype(Config::name)::Type& v) { \
    Config::name(v);                                           \
    return *this;                                              \
  }                                                            \
  const auto& name() const noexcept { return Config::name(); } \
  auto& name() noexcept { return Config::name(); }
