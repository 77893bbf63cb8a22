// Losses. Tensors among the options (class weights) are buffers: they move with the module and are
// saved with it. Formulas and errors: ops/nn/loss.h.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/loss.h"
#include "taeda/nn/holder.h"

namespace taeda::inline v0_2::nn {

namespace detail {
/// A loss with its options, of which the first may be given without a name. A weight is registered
/// as a buffer, which the options share.
template <class OptionsType, class Derived>
class LossModule : public Cloneable<Derived> {
 public:
  using Options = OptionsType;
  explicit LossModule(Options o = {}) : options(std::move(o)) { LossModule::reset(); }
  template <class T>
  requires requires(T first) { Options{first}; }
  explicit LossModule(T first) : LossModule(Options{std::move(first)}) {}
  void reset() override {
    if constexpr (requires { options.weight; }) share("weight", options.weight);
    if constexpr (requires { options.pos_weight; }) share("pos_weight", options.pos_weight);
  }
  void settings(Settings& out) const override;
  Options options;

 private:
  /// A copy of a module starts with its own tensor, not with the original's.
  void share(const char* name, Tensor& t) {
    if (t.defined()) t = this->register_buffer(name, t.detach());
  }
};

/// A loss that is a function of an input and a target.
template <class OptionsType, class Derived,
          Tensor (*kLoss)(const Tensor&, const Tensor&, const OptionsType&)>
class LossOfTwo : public LossModule<OptionsType, Derived> {
 public:
  using LossModule<OptionsType, Derived>::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return kLoss(input, target, this->options);
  }
};

/// A loss of two inputs and a target, or of an anchor and what is near it and far from it.
template <class OptionsType, class Derived,
          Tensor (*kLoss)(const Tensor&, const Tensor&, const Tensor&, const OptionsType&)>
class LossOfThree : public LossModule<OptionsType, Derived> {
 public:
  using LossModule<OptionsType, Derived>::LossModule;
  Tensor forward(const Tensor& x1, const Tensor& x2, const Tensor& x3) {
    return kLoss(x1, x2, x3, this->options);
  }
};
}  // namespace detail

/// (input - target)^2 of each element, or, by default, its mean; shapes must broadcast.
class MSELossImpl : public detail::LossOfTwo<MSELossOptions, MSELossImpl, functional::mse_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(MSELoss);

/// |input - target| of each element, or, by default, its mean; shapes must broadcast.
class L1LossImpl : public detail::LossOfTwo<L1LossOptions, L1LossImpl, functional::l1_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(L1Loss);

/// (input - target)^2 / (2 beta) of differences below beta, else |input - target| - beta / 2; by
/// default the mean.
class SmoothL1LossImpl
    : public detail::LossOfTwo<SmoothL1LossOptions, SmoothL1LossImpl, functional::smooth_l1_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(SmoothL1Loss);

/// (input - target)^2 / 2 of differences up to delta, else delta (|input - target| - delta / 2); by
/// default the mean.
class HuberLossImpl
    : public detail::LossOfTwo<HuberLossOptions, HuberLossImpl, functional::huber_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(HuberLoss);

/// -log softmax(input)[target] of scores [N, C, ...] and classes [N, ...], or of probabilities in
/// the shape of the scores; by default the weighted mean.
class CrossEntropyLossImpl : public detail::LossOfTwo<CrossEntropyLossOptions, CrossEntropyLossImpl,
                                                      functional::cross_entropy> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(CrossEntropyLoss);

/// -input[target] of log-probabilities [N, C, ...] and classes [N, ...]; by default the weighted
/// mean.
class NLLLossImpl : public detail::LossOfTwo<NLLLossOptions, NLLLossImpl, functional::nll_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(NLLLoss);

/// Cross entropy of probabilities against targets in [0, 1].
class BCELossImpl
    : public detail::LossOfTwo<BCELossOptions, BCELossImpl, functional::binary_cross_entropy> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(BCELoss);

/// -(t log s + (1 - t) log(1 - s)) with s = sigmoid(input), which is exact for large inputs; target
/// of the same shape, by default the mean.
class BCEWithLogitsLossImpl
    : public detail::LossOfTwo<BCEWithLogitsLossOptions, BCEWithLogitsLossImpl,
                               functional::binary_cross_entropy_with_logits> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(BCEWithLogitsLoss);

/// target (log target - input) of log-probabilities and probabilities of the same shape; by default
/// the mean of all elements, which is warned of.
class KLDivLossImpl
    : public detail::LossOfTwo<KLDivLossOptions, KLDivLossImpl, functional::kl_div> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(KLDivLoss);

/// exp(input) - target input, the negative log-likelihood of counts of Poisson's distribution, by
/// default of the logarithm of its mean; the mean of all elements.
class PoissonNLLLossImpl : public detail::LossOfTwo<PoissonNLLLossOptions, PoissonNLLLossImpl,
                                                    functional::poisson_nll_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(PoissonNLLLoss);

/// x of pairs with target 1, max(0, margin - x) of those with target -1; x and target of one shape,
/// by default the mean.
class HingeEmbeddingLossImpl
    : public detail::LossOfTwo<HingeEmbeddingLossOptions, HingeEmbeddingLossImpl,
                               functional::hinge_embedding_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(HingeEmbeddingLoss);

/// log(1 + exp(-t x)) of inputs x and targets t, 1 or -1, of one shape; by default the mean.
class SoftMarginLossImpl : public detail::LossOfTwo<SoftMarginLossOptions, SoftMarginLossImpl,
                                                    functional::soft_margin_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(SoftMarginLoss);

/// max(0, -target (x1 - x2) + margin) of two inputs and targets, 1 or -1, of one shape; by default
/// the mean.
class MarginRankingLossImpl
    : public detail::LossOfThree<MarginRankingLossOptions, MarginRankingLossImpl,
                                 functional::margin_ranking_loss> {
 public:
  using LossOfThree::LossOfThree;
};
TAEDA_MODULE(MarginRankingLoss);

/// 1 - cos(x1, x2) of pairs with target 1, max(0, cos(x1, x2) - margin) of those with -1; inputs
/// [N, D], targets [N], by default the mean.
class CosineEmbeddingLossImpl
    : public detail::LossOfThree<CosineEmbeddingLossOptions, CosineEmbeddingLossImpl,
                                 functional::cosine_embedding_loss> {
 public:
  using LossOfThree::LossOfThree;
};
TAEDA_MODULE(CosineEmbeddingLoss);

/// The positive shall be nearer than the negative by the margin.
class TripletMarginLossImpl
    : public detail::LossOfThree<TripletMarginLossOptions, TripletMarginLossImpl,
                                 functional::triplet_margin_loss> {
 public:
  using LossOfThree::LossOfThree;
};
TAEDA_MODULE(TripletMarginLoss);

/// The mean over classes i other than the target y of max(0, margin - x[y] + x[i])^p; scores [N,
/// C], targets [N], by default the mean of all examples.
class MultiMarginLossImpl : public detail::LossOfTwo<MultiMarginLossOptions, MultiMarginLossImpl,
                                                     functional::multi_margin_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(MultiMarginLoss);

/// The sum over targets j and other classes i of max(0, 1 - x[j] + x[i]), divided by C; scores and
/// targets [N, C], of which -1 ends a row; by default the mean.
class MultiLabelMarginLossImpl
    : public detail::LossOfTwo<MultiLabelMarginLossOptions, MultiLabelMarginLossImpl,
                               functional::multilabel_margin_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(MultiLabelMarginLoss);

/// The mean over classes of -(t log s(x) + (1 - t) log s(-x)), s the sigmoid; scores and targets, 0
/// or 1, are [N, C], by default the mean of all examples.
class MultiLabelSoftMarginLossImpl
    : public detail::LossOfTwo<MultiLabelSoftMarginLossOptions, MultiLabelSoftMarginLossImpl,
                               functional::multilabel_soft_margin_loss> {
 public:
  using LossOfTwo::LossOfTwo;
};
TAEDA_MODULE(MultiLabelSoftMarginLoss);

/// max(0, d(a, p) - d(a, n) + margin) with any distance d, by default pairwise_distance; anchor,
/// positive and negative are [N, D].
class TripletMarginWithDistanceLossImpl
    : public detail::LossOfThree<TripletMarginWithDistanceLossOptions,
                                 TripletMarginWithDistanceLossImpl,
                                 functional::triplet_margin_with_distance_loss> {
 public:
  using LossOfThree::LossOfThree;
};
TAEDA_MODULE(TripletMarginWithDistanceLoss);

}  // namespace taeda::inline v0_2::nn
