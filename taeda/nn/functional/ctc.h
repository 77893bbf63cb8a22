// Connectionist temporal classification with options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/ops/nn/ctc_loss.h"

namespace taeda::inline v0_2::nn {

/// Options of the module CTCLoss, whose input are logarithms of probabilities, [T, N, C].
struct CTCLossOptions {
  /// The class that stands for no label, at least 0 and below the number of classes; 0 by default.
  Option<int64_t> blank = 0;
  /// kNone: a loss for each sequence, [N]; kMean, the default: the mean of losses divided by the
  /// lengths of their targets; kSum: the sum of losses.
  Option<Reduction> reduction = Reduction::Mean;
  /// Whether a target that is too long for its input costs nothing, with a gradient of 0, instead
  /// of infinity; false by default.
  Option<bool> zero_infinity = false;
};

namespace functional {
using CTCLossFuncOptions = CTCLossOptions;
using taeda::ctc_loss;

inline Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, const CTCLossFuncOptions& o) {
  return taeda::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(),
                         o.reduction(), o.zero_infinity());
}

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
