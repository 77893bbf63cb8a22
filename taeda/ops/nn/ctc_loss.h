// Connectionist temporal classification.
// [operations]
#pragma once

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// -log of the probability of each target sequence, over all its alignments (Graves et al. 2006,
/// "Connectionist temporal classification").
///
/// `log_probs` [T, N, C] (or [T, C] without a batch) are logarithms of probabilities; `targets` are
/// class indices [N, S], or all sequences one behind the other. A target that cannot be aligned
/// with its input costs infinity, whose gradient is zero here and NaN in PyTorch; with
/// `zero_infinity` it costs nothing. The mean divides every loss by its target's length first.
/// Differentiable any number of times. Throws Error for lengths and shapes that do not fit,
/// IndexError for targets outside of the classes.
/// [dtypes: floating, autocast: float32 host, composite]
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, int64_t blank = 0,
                ReductionArg reduction = Reduction::Mean, bool zero_infinity = false);
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                IntArrayRef target_lengths, int64_t blank = 0,
                ReductionArg reduction = Reduction::Mean, bool zero_infinity = false);

}  // namespace taeda::inline v0_2
