// How the memory of two tensors lies: the one place that tells what a kernel may write while it
// reads.
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// What two tensors have in common, as far as that is easily told: from the first element of each
/// to its last, and by the distances of their elements. `Open` is for tensors with gaps, whose
/// elements may or may not meet.
enum class Overlap : uint8_t { Apart, Same, Partial, Open };

/// `Same` if both show the same bytes in the same order, though perhaps as numbers of another dtype
/// of that size. Addresses of different devices are not comparable, and on meta there are none:
/// only tensors of one storage meet there.
Overlap overlap_of(const Tensor& a, const Tensor& b);

/// Throws Error, in PyTorch's words, if `out`, which will be written, and the input `in` have a
/// part of their memory in common but not every element.
void check_partial_overlap(const Tensor& out, const Tensor& in);

}  // namespace taeda::inline v0_2
