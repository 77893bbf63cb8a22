#include "taeda/nn/modules/loss.h"

#include "taeda/nn/modules/ctc.h"
#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn {

namespace {

// What libtorch shows of options; Python shows nothing of losses.
// ---------------------------------------------------------------------------

void show_loss(Settings&, const auto&) {}
void show_loss(Settings& out, const CosineEmbeddingLossImpl& loss) {
  out.libtorch("margin", loss.options.margin);
}
void show_loss(Settings& out, const HingeEmbeddingLossImpl& loss) {
  out.libtorch("margin", loss.options.margin);
}
void show_loss(Settings& out, const MultiMarginLossImpl& loss) {
  const auto& o = loss.options;
  out.libtorch("p", o.p).libtorch("margin", o.margin);
  out.libtorch("weight", o.weight).libtorch("reduction", o.reduction);
}
void show_loss(Settings& out, const TripletMarginLossImpl& loss) {
  const auto& o = loss.options;
  out.libtorch("margin", o.margin).libtorch("p", o.p);
  out.libtorch("eps", o.eps).libtorch("swap", o.swap);
}
void show_loss(Settings& out, const TripletMarginWithDistanceLossImpl& loss) {
  out.libtorch("margin", loss.options.margin).libtorch("swap", loss.options.swap);
}

}  // namespace

template <class OptionsType, class Derived>
void detail::LossModule<OptionsType, Derived>::settings(Settings& out) const {
  show_loss(out.of(typeid(Derived)), static_cast<const Derived&>(*this));
}

#define TAEDA_LOSS(Name) template class detail::LossModule<Name##Options, Name##Impl>
TAEDA_LOSS(MSELoss);
TAEDA_LOSS(L1Loss);
TAEDA_LOSS(SmoothL1Loss);
TAEDA_LOSS(HuberLoss);
TAEDA_LOSS(CrossEntropyLoss);
TAEDA_LOSS(NLLLoss);
TAEDA_LOSS(BCELoss);
TAEDA_LOSS(BCEWithLogitsLoss);
TAEDA_LOSS(KLDivLoss);
TAEDA_LOSS(PoissonNLLLoss);
TAEDA_LOSS(HingeEmbeddingLoss);
TAEDA_LOSS(SoftMarginLoss);
TAEDA_LOSS(MarginRankingLoss);
TAEDA_LOSS(CosineEmbeddingLoss);
TAEDA_LOSS(TripletMarginLoss);
TAEDA_LOSS(MultiMarginLoss);
TAEDA_LOSS(MultiLabelMarginLoss);
TAEDA_LOSS(MultiLabelSoftMarginLoss);
TAEDA_LOSS(TripletMarginWithDistanceLoss);
TAEDA_LOSS(CTCLoss);
#undef TAEDA_LOSS

}  // namespace taeda::inline v0_2::nn
