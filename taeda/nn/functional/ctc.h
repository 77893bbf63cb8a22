// Connectionist temporal classification with options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/ops/nn/ctc_loss.h"

namespace taeda::inline v0_2::nn {

/// Of module CTCLoss.
struct CTCLossOptions {
  /// The class that stands for no label, below the number of classes.
  Option<int64_t> blank = 0;
  /// kNone: a loss for each sequence; kMean: the mean of losses by length; kSum: their sum.
  Option<Reduction> reduction = Reduction::Mean;
  /// Whether what cannot be aligned costs nothing instead of infinity.
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
