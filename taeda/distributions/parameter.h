// What distributions are made of: tensors and numbers, and the names of those that can be said in
// two ways.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::distributions {

/// A tensor or a number. Numbers take dtype and device of the tensors beside them. Throws
/// ValueError for an undefined tensor, in PyTorch's words for None.
class Parameter {
 public:
  Parameter(Tensor tensor) : tensor_(std::move(tensor)) {
    TAEDA_CHECK_VALUE(tensor_.defined(),
                      "Input arguments must all be instances of Number or torch.Tensor, but one is "
                      "an undefined Tensor");
  }
  template <class T>
  requires std::integral<T> || std::floating_point<T> Parameter(T number)
      : number_(static_cast<double>(number)) {}

  bool is_number() const { return !tensor_.defined(); }
  double number() const { return number_; }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  double number_ = 0;
};

/// Log-odds (of two outcomes) or logarithms of weights (of several) where a distribution else takes
/// probabilities: `Bernoulli(Logits(x))`.
struct Logits {
  explicit Logits(Parameter p) : value(std::move(p)) {}
  Parameter value;
};
/// Probabilities, the default: `Bernoulli(0.3)` is `Bernoulli(Probs(0.3))`.
struct Probs {
  Probs(Parameter p) : value(std::move(p)) {}
  Parameter value;
};
/// Either of them; a tensor or a number is probabilities.
struct Chances {
  Chances(Probs probs) : value(std::move(probs.value)) {}
  Chances(Logits logits) : value(std::move(logits.value)), are_logits(true) {}
  template <std::convertible_to<Parameter> T>
  Chances(T&& probs) : value(std::forward<T>(probs)) {}
  Parameter value;
  bool are_logits = false;
};

/// A lower triangular factor of the covariance, where MultivariateNormal else takes the covariance.
struct ScaleTril {
  explicit ScaleTril(Tensor t) : value(std::move(t)) {}
  Tensor value;
};
/// The inverse of the covariance.
struct Precision {
  explicit Precision(Tensor t) : value(std::move(t)) {}
  Tensor value;
};

}  // namespace taeda::inline v0_2::distributions
