// Where a transform of functions (Python's torch.func) begins and ends.
#pragma once

#include <cstdint>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::autograd {

/// A derivative as a function of functions: while it calls what it was given, it watches leaves of
/// its own, and what is computed of them is none of the caller's business.
///
/// Note [Levels]
/// All transforms record into one graph. Each asks for gradients by its own leaves, so that none
/// takes another's perturbation for its own, and whatever its function sees beside its arguments -
/// tensors of enclosing transforms, parameters that learn - stays a part of the graph. When it is
/// over, its leaves are dead: what depends on nothing else must not require gradients, and what
/// does must not compute gradients for them. So the nodes that were recorded in between are gone
/// through once, and edges that lead to dead leaves alone are cut.
class Level {
 public:
  /// Begins: nodes that this thread makes from here on are the level's.
  Level();
  /// One that began when the thread's next node had this number.
  explicit Level(uint64_t first) : first_(first) {}
  uint64_t first() const { return first_; }

  /// Whether gradients of `outputs` may be wanted by anybody but `watched`, the level's leaves.
  bool reaches_outside(const std::vector<Tensor>& outputs,
                       const std::vector<Tensor>& watched) const;

  /// What is left of `results` outside: detached where they depend on the `watched` leaves alone,
  /// or on whatever the level recorded if the caller records nothing (`recorded`). With `cut`
  /// nothing that stays computes gradients of the leaves any more.
  std::vector<Tensor> close(const std::vector<Tensor>& results, const std::vector<Tensor>& watched,
                            bool recorded, bool cut) const;

 private:
  uint64_t first_;
};

}  // namespace taeda::inline v0_2::autograd
