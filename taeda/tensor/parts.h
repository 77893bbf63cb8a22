// Tensors that share one block of memory and nothing else.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// Note [Parts]
/// A part is a tensor over a piece of another one's memory that is its alone: no view, with a
/// version of its own. Whoever makes parts makes sure that they do not overlap and that the whole
/// is not used any more. So a part that nobody else holds may be taken as it is where a tensor must
/// have its memory for itself - a gradient that comes out of a bucket becomes its leaf's without a
/// copy - though its storage has other holders.
///
/// A part is told by its version counter, which counts from 2^31 on, where no other comes to. Views
/// and aliases share the counter, so its holders say who uses the memory.
Tensor make_part(const Tensor& whole, Layout layout);

/// How many tensors use the memory of `t`: those with its storage or, for a part, with its version.
uint32_t holders_of_memory(const Tensor& t);

/// The first version of a tensor that had `version` and was given other memory: no part's.
constexpr uint32_t version_after(uint32_t version) { return (version + 1) & ~(1u << 31); }

}  // namespace taeda
