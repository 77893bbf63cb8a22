// What views may do, and how their histories follow their bases.
#pragma once

#include "taeda/autograd/node.h"

namespace taeda::inline v0_2::autograd {

/// Throws Error, in PyTorch's words, unless a recorded change of `view` in place can be put into
/// the history of its base: its kind must be Default, and the base no leaf that requires a
/// gradient.
/// `op` names the operation.
void check_view(const char* op, const Tensor& view);

}  // namespace taeda::autograd
