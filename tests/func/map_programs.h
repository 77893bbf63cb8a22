// Random programs for maps: lists of steps whose operands are numbers taken modulo what there is,
// so that every part of a program is a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::map_programs {

using Tensors = std::vector<Tensor>;

/// A call with two tensors among those that there are, and two numbers.
struct Operation {
  const char* name;
  Tensor (*call)(const Tensor& x, const Tensor& y, int64_t p, int64_t q);
};
const std::vector<Operation>& operations();

/// `operation` is one of `operations()`, or behind them kGrad or kMap: the gradient or the map of
/// the steps that follow.
struct Step {
  uint32_t operation, a, b, p, q;
};
using Program = std::vector<Step>;
enum : uint32_t { kGrad, kMap };
uint32_t higher(uint32_t kind);

Program generate(uint64_t seed);
std::string to_text(const Program& program);

/// What is mapped of the inputs, and where.
struct Inputs {
  Tensors tensors;
  std::vector<OptionalDim> dims;
  int64_t samples;
};
Inputs inputs_of(uint64_t seed);
/// Results and gradients, of a map or of a loop over samples.
Tensors run(const Program& program, const Inputs& inputs, bool at_once);

}  // namespace taeda::map_programs
