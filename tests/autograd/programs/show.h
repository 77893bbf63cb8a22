// The views of random programs.
#pragma once

#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"
#include "tests/autograd/programs/program.h"

namespace taeda::programs {

/// The views that an instruction makes of `x`, which Python calls `of`, and the Python text that
/// makes them; no text where the instruction does not apply to such a tensor.
std::vector<Tensor> show(const Instruction& i, const Tensor& x, const std::string& of,
                         std::string* text);

/// "(2,3,)".
std::string list_of(IntArrayRef values);

}  // namespace taeda::programs
