// What may stand between the brackets of an indexing expression:
// x.index({0, Slice(1, 3), None, "...", mask}).
#pragma once

#include <concepts>
#include <cstring>

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Leaves out a bound of a Slice; as an index of its own it inserts a dimension of size 1.
inline constexpr std::nullopt_t None = std::nullopt;

/// Stands for as many full slices as there are dimensions left.
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

/// Python's start:stop:step. Throws ValueError unless step > 0.
class Slice {
 public:
  Slice(OptionalDim start = {}, OptionalDim stop = {}, OptionalDim step = {})
      : start_(start), stop_(stop), step_(step.value_or(1)) {
    TAEDA_CHECK_VALUE(step_ != 0, "slice step cannot be zero");
    TAEDA_CHECK_VALUE(step_ > 0, "step must be greater than zero");
  }
  OptionalDim start() const { return start_; }
  OptionalDim stop() const { return stop_; }
  int64_t step() const { return step_; }

 private:
  OptionalDim start_, stop_;
  int64_t step_;
};

/// One index: a number, a Slice, None, Ellipsis or "...", a bool, or a tensor of integers or bools.
/// Indexing throws IndexError for more of them than dimensions and for numbers outside of a
/// dimension's size.
class TensorIndex {
 public:
  enum class Kind : uint8_t { NewAxis, Rest, Integer, Boolean, Slice, Tensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::NewAxis) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::Rest) {}
  /// Throws ValueError for another string than "...".
  TensorIndex(const char* text) : kind_(Kind::Rest) {
    TAEDA_CHECK_VALUE(std::strcmp(text, "...") == 0,
                      "Expected \"...\" to represent an ellipsis "
                      "index, but got \"",
                      text, "\"");
  }
  template <std::integral T>
  TensorIndex(T value)
      : kind_(std::same_as<T, bool> ? Kind::Boolean : Kind::Integer),
        integer_(static_cast<int64_t>(value)) {}
  TensorIndex(Slice slice) : kind_(Kind::Slice), slice_(slice) {}
  TensorIndex(taeda::Tensor tensor) : kind_(Kind::Tensor), tensor_(std::move(tensor)) {}

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const taeda::Slice& slice() const { return slice_; }
  const taeda::Tensor& tensor() const { return tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  taeda::Slice slice_;
  taeda::Tensor tensor_;
};

/// libtorch's names.
namespace indexing {
using taeda::Ellipsis, taeda::EllipsisIndexType, taeda::None, taeda::Slice, taeda::TensorIndex;
}  // namespace indexing

}  // namespace taeda
