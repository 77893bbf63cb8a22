// Modules that are one function and its options.
#pragma once

#include "taeda/nn/cloneable.h"

namespace taeda::inline v0_2::nn::detail {

/// A module without parameters that only keeps its options. A first setting may be given without a
/// name.
template <class OptionsType, class Derived>
class OptionsModule : public Cloneable<Derived> {
 public:
  using Options = OptionsType;
  OptionsModule() requires std::is_default_constructible_v<Options>
  = default;
  explicit OptionsModule(Options o) : options(std::move(o)) {}
  template <class T>
  requires requires(T first) { Options{first}; }
  explicit OptionsModule(T first) : options{std::move(first)} {}
  void reset() override {}
  Options options;
};

}  // namespace taeda::inline v0_2::nn::detail
