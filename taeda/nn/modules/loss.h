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
}  // namespace detail

/// (input - target)^2
class MSELossImpl : public detail::LossModule<MSELossOptions, MSELossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::mse_loss(input, target, options);
  }
};
TAEDA_MODULE(MSELoss);

/// |input - target|
class L1LossImpl : public detail::LossModule<L1LossOptions, L1LossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::l1_loss(input, target, options);
  }
};
TAEDA_MODULE(L1Loss);

/// Quadratic near zero, linear beyond beta.
class SmoothL1LossImpl : public detail::LossModule<SmoothL1LossOptions, SmoothL1LossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::smooth_l1_loss(input, target, options);
  }
};
TAEDA_MODULE(SmoothL1Loss);

/// Quadratic near zero, linear beyond delta.
class HuberLossImpl : public detail::LossModule<HuberLossOptions, HuberLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::huber_loss(input, target, options);
  }
};
TAEDA_MODULE(HuberLoss);

/// -log softmax(input)[target].
class CrossEntropyLossImpl
    : public detail::LossModule<CrossEntropyLossOptions, CrossEntropyLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::cross_entropy(input, target, options);
  }
};
TAEDA_MODULE(CrossEntropyLoss);

/// -input[target] over log-probabilities.
class NLLLossImpl : public detail::LossModule<NLLLossOptions, NLLLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::nll_loss(input, target, options);
  }
};
TAEDA_MODULE(NLLLoss);

/// Cross entropy of probabilities against targets in [0, 1].
class BCELossImpl : public detail::LossModule<BCELossOptions, BCELossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::binary_cross_entropy(input, target, options);
  }
};
TAEDA_MODULE(BCELoss);

/// The same of sigmoid(input).
class BCEWithLogitsLossImpl
    : public detail::LossModule<BCEWithLogitsLossOptions, BCEWithLogitsLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::binary_cross_entropy_with_logits(input, target, options);
  }
};
TAEDA_MODULE(BCEWithLogitsLoss);

/// target (log target - input).
class KLDivLossImpl : public detail::LossModule<KLDivLossOptions, KLDivLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::kl_div(input, target, options);
  }
};
TAEDA_MODULE(KLDivLoss);

/// Negative log likelihood of counts.
class PoissonNLLLossImpl : public detail::LossModule<PoissonNLLLossOptions, PoissonNLLLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::poisson_nll_loss(input, target, options);
  }
};
TAEDA_MODULE(PoissonNLLLoss);

/// Distances that shall be small (1) or large (-1).
class HingeEmbeddingLossImpl
    : public detail::LossModule<HingeEmbeddingLossOptions, HingeEmbeddingLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::hinge_embedding_loss(input, target, options);
  }
};
TAEDA_MODULE(HingeEmbeddingLoss);

/// log(1 + exp(-t x)).
class SoftMarginLossImpl : public detail::LossModule<SoftMarginLossOptions, SoftMarginLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::soft_margin_loss(input, target, options);
  }
};
TAEDA_MODULE(SoftMarginLoss);

/// max(0, -target (x1 - x2) + margin).
class MarginRankingLossImpl
    : public detail::LossModule<MarginRankingLossOptions, MarginRankingLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& x1, const Tensor& x2, const Tensor& target) {
    return functional::margin_ranking_loss(x1, x2, target, options);
  }
};
TAEDA_MODULE(MarginRankingLoss);

/// 1 - cos of pairs that belong together, max(0, cos - margin) of others.
class CosineEmbeddingLossImpl
    : public detail::LossModule<CosineEmbeddingLossOptions, CosineEmbeddingLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& x1, const Tensor& x2, const Tensor& target) {
    return functional::cosine_embedding_loss(x1, x2, target, options);
  }
};
TAEDA_MODULE(CosineEmbeddingLoss);

/// The positive shall be nearer than the negative by the margin.
class TripletMarginLossImpl
    : public detail::LossModule<TripletMarginLossOptions, TripletMarginLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
    return functional::triplet_margin_loss(anchor, positive, negative, options);
  }
};
TAEDA_MODULE(TripletMarginLoss);

/// The target's score shall be larger than every other one by the margin.
class MultiMarginLossImpl : public detail::LossModule<MultiMarginLossOptions, MultiMarginLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::multi_margin_loss(input, target, options);
  }
};
TAEDA_MODULE(MultiMarginLoss);

/// The same with several targets.
class MultiLabelMarginLossImpl
    : public detail::LossModule<MultiLabelMarginLossOptions, MultiLabelMarginLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::multilabel_margin_loss(input, target, options);
  }
};
TAEDA_MODULE(MultiLabelMarginLoss);

/// Cross entropy of each class's sigmoid.
class MultiLabelSoftMarginLossImpl
    : public detail::LossModule<MultiLabelSoftMarginLossOptions, MultiLabelSoftMarginLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& input, const Tensor& target) {
    return functional::multilabel_soft_margin_loss(input, target, options);
  }
};
TAEDA_MODULE(MultiLabelSoftMarginLoss);

/// TripletMarginLoss with any distance.
class TripletMarginWithDistanceLossImpl
    : public detail::LossModule<TripletMarginWithDistanceLossOptions,
                                TripletMarginWithDistanceLossImpl> {
 public:
  using LossModule::LossModule;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
    return functional::triplet_margin_with_distance_loss(anchor, positive, negative, options);
  }
};
TAEDA_MODULE(TripletMarginWithDistanceLoss);

}  // namespace taeda::inline v0_2::nn
