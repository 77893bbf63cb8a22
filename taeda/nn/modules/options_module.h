// Modules that are one function and its options.
#pragma once

#include "taeda/nn/cloneable.h"

namespace taeda::inline v0_2::nn::detail {

/// A module without parameters that only keeps its options.
template <class OptionsType, class Derived>
class OptionsModule : public Cloneable<Derived> {
 public:
  using Options = OptionsType;
  explicit OptionsModule(Options o) : options(std::move(o)) {}
  void reset() override {}
  Options options;
};

}  // namespace taeda::inline v0_2::nn::detail
