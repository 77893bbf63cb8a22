// For operations whose gradients need what is no saved tensor.
#pragma once

namespace taeda::inline v0_2::autograd {

/// Called before `record` by an operation that keeps a number, a mask or sizes for its gradient
/// where the rules of autograd count them as something saved: its node runs once unless the graph
/// is kept, as if it had saved a tensor.
void runs_once();

}  // namespace taeda::inline v0_2::autograd
