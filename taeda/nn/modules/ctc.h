// The loss of connectionist temporal classification as a module.
#pragma once

#include "taeda/nn/functional/ctc.h"
#include "taeda/nn/modules/loss.h"

namespace taeda::inline v0_2::nn {

/// -log of the probability of target sequences over all their alignments with the input [T, N, C]
/// (Graves et al. 2006). Targets are [N, S] or all behind each other; ops/nn/ctc_loss.h has the
/// errors.
class CTCLossImpl : public detail::LossModule<CTCLossOptions, CTCLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths) {
    return functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options);
  }
};
TAEDA_MODULE(CTCLoss);

}  // namespace taeda::inline v0_2::nn
