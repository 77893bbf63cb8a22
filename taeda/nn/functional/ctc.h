// Connectionist temporal classification with options.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/ops/nn/ctc_loss.h"

namespace taeda::inline v0_2::nn {

class CTCLossOptions {
  TAEDA_ARG(int64_t, blank) = 0;
  TAEDA_ARG(Reduction, reduction) = Reduction::Mean;
  /// What cannot be aligned costs nothing instead of infinity.
  TAEDA_ARG(bool, zero_infinity) = false;
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
