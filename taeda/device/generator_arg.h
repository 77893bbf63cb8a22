// How a function takes the generator it draws from: nothing, a pointer, a handle, an optional one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

namespace taeda::inline v0_2 {

class Generator;

/// Refers to the caller's generator for as long as the call lasts; none: the device's default.
class GeneratorArg {
 public:
  GeneratorArg(std::nullptr_t = nullptr) {}
  GeneratorArg(std::nullopt_t) {}
  GeneratorArg(Generator* generator) : generator_(generator) {}
  GeneratorArg(const Generator& generator)
      : generator_(const_cast<Generator*>(std::addressof(generator))) {}
  GeneratorArg(const std::optional<Generator>& generator);

  operator Generator*() const { return generator_; }

 private:
  Generator* generator_ = nullptr;
};

}  // namespace taeda::inline v0_2
