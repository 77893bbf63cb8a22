// One sample of a dataset, and the batch made of many: both are an Example.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::data {

namespace example {
/// The target of datasets that have none, an empty struct.
using NoTarget = void;
}  // namespace example

/// An input and what a model should make of it. After collation both hold a whole batch.
/// Tensors have one more dimension then, the batch's size in front.
template <class Data = Tensor, class Target = Tensor>
struct Example {
  using DataType = Data;
  using TargetType = Target;

  Example() = default;
  Example(Data d, Target t) : data(std::move(d)), target(std::move(t)) {}

  Data data;
  Target target;
};

/// An input alone.
template <class Data>
struct Example<Data, example::NoTarget> {
  using DataType = Data;
  using TargetType = example::NoTarget;

  Example() = default;
  Example(Data d) : data(std::move(d)) {}
  operator Data&() { return data; }
  operator const Data&() const { return data; }

  Data data;
};

/// An example without a target: one tensor.
using TensorExample = Example<Tensor, example::NoTarget>;

}  // namespace taeda::data
