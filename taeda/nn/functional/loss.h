// Losses as functions, and the options that functions and modules share.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>

#include "taeda/base/option.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/loss.h"

namespace taeda::inline v0_2::nn {

/// Of losses that have no other setting: modules MSELoss, L1Loss, SoftMarginLoss and
/// MultiLabelMarginLoss.
struct LossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};
using MSELossOptions = LossOptions;
using L1LossOptions = LossOptions;
using SoftMarginLossOptions = LossOptions;
using MultiLabelMarginLossOptions = LossOptions;

/// Of module SmoothL1Loss.
struct SmoothL1LossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// Below it a difference counts with its square, above with its size; at least 0.
  Option<double> beta = 1.0;
};

/// Of module HuberLoss.
struct HuberLossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// Up to it a difference counts with its square, beyond with its size; above 0.
  Option<double> delta = 1.0;
};

/// Of module CrossEntropyLoss.
struct CrossEntropyLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// The target that counts for nothing.
  Option<int64_t> ignore_index = -100;
  /// kNone: a loss for each target; kMean: their mean, by the weights; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// How much of the uniform distribution is mixed with the target, from 0 to 1.
  Option<double> label_smoothing = 0.0;
};

/// Of module NLLLoss.
struct NLLLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// The target that counts for nothing.
  Option<int64_t> ignore_index = -100;
  /// kNone: a loss for each target; kMean: their mean, by the weights; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module BCELoss.
struct BCELossOptions {
  /// A factor of each element's loss, broadcasting to the input; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  /// A factor of each element's loss, broadcasting to the input; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// A factor of the positive term, broadcasting to the input; undefined for none.
  Option<Tensor> pos_weight = Tensor();
};

/// kNone, kMean, kSum, or kBatchMean: the sum divided by the size of the batch.
class KLDivReduction {
 public:
  KLDivReduction(Reduction reduction) : reduction_(reduction) {}
  KLDivReduction(BatchMean) : reduction_(kSum), batch_mean_(true) {}
  /// What stands for one of them.
  template <class E>
  requires(std::is_class_v<E> && !std::derived_from<E, KLDivReduction> &&
           std::convertible_to<E, Reduction>) KLDivReduction(E reduction)
      : reduction_(reduction) {}
  template <class E>
  requires(!std::same_as<E, BatchMean> && std::convertible_to<E, BatchMean>) KLDivReduction(E)
      : KLDivReduction(kBatchMean) {}
  /// kSum for kBatchMean.
  operator Reduction() const { return reduction_; }
  bool is_batch_mean() const { return batch_mean_; }

 private:
  Reduction reduction_;
  bool batch_mean_ = false;
};

/// Of module KLDivLoss.
struct KLDivLossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum; kBatchMean: their sum
  /// divided by the size of the batch.
  Option<KLDivReduction> reduction = kMean;
  /// Whether the targets are logarithms.
  Option<bool> log_target = false;
};

/// Of modules MarginRankingLoss and CosineEmbeddingLoss.
struct MarginRankingLossOptions {
  /// By how much the one that should be larger must be; of cosines, from -1 to 1, what those of
  /// pairs that differ may reach.
  Option<double> margin = 0;
  /// kNone: a loss for each pair; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};
using CosineEmbeddingLossOptions = MarginRankingLossOptions;

/// Of module HingeEmbeddingLoss.
struct HingeEmbeddingLossOptions {
  /// The distance from which on pairs that differ cost nothing.
  Option<double> margin = 1.0;
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module TripletMarginLoss.
struct TripletMarginLossOptions {
  /// By how much the negative must be farther than the positive, above 0.
  Option<double> margin = 1.0;
  /// The norm of differences that is the distance.
  Option<double> p = 2.0;
  /// What is added to differences.
  Option<double> eps = 1e-6;
  /// Whether the negative's distance is the smaller one of those to anchor and positive.
  Option<bool> swap = false;
  /// kNone: a loss for each triplet; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module TripletMarginWithDistanceLoss.
struct TripletMarginWithDistanceLossOptions {
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// The distance of two batches [N, D], [N]; pairwise_distance unless given.
  Option<std::optional<distance_function_t>> distance_function = std::nullopt;
  /// By how much the negative must be farther than the positive, above 0.
  Option<double> margin = 1.0;
  /// Whether the negative's distance is the smaller one of those to anchor and positive.
  Option<bool> swap = false;
  /// kNone: a loss for each triplet; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module MultiMarginLoss.
struct MultiMarginLossOptions {
  /// The exponent of a class's part, 1 or 2.
  Option<int64_t> p = 1;
  /// By how much the target's score must be larger than others.
  Option<double> margin = 1.0;
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each example; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module MultiLabelSoftMarginLoss.
struct MultiLabelSoftMarginLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each example; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Of module PoissonNLLLoss.
struct PoissonNLLLossOptions {
  /// Whether the input is the logarithm of the mean.
  Option<bool> log_input = true;
  /// Whether Stirling's approximation of the target's factorial is added.
  Option<bool> full = false;
  /// What is added to an input before its logarithm.
  Option<double> eps = 1e-8;
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

namespace functional {
using MSELossFuncOptions = MSELossOptions;
using L1LossFuncOptions = L1LossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;

using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;

// Note [Plain forms and options]
// The forms with plain arguments are those of ops/nn/loss.h. An enumerator, a number or a list that
// converts to a plain argument may convert to options, too: a template gives way to a function that
// is none, so the plain form is taken then.
using taeda::cross_entropy, taeda::nll_loss, taeda::mse_loss, taeda::l1_loss, taeda::smooth_l1_loss;
using taeda::huber_loss, taeda::binary_cross_entropy_with_logits, taeda::kl_div;
using taeda::margin_ranking_loss, taeda::cosine_similarity, taeda::cosine_embedding_loss;
using taeda::pairwise_distance, taeda::triplet_margin_loss;
using taeda::poisson_nll_loss, taeda::gaussian_nll_loss, taeda::hinge_embedding_loss,
    taeda::soft_margin_loss;

Tensor cross_entropy(const Tensor& x, const Tensor& target, const CrossEntropyFuncOptions& o);
Tensor nll_loss(const Tensor& x, const Tensor& target, const NLLLossFuncOptions& o);
template <class = void>
Tensor mse_loss(const Tensor& x, const Tensor& target, const MSELossFuncOptions& o) {
  return taeda::mse_loss(x, target, o.reduction());
}
template <class = void>
Tensor l1_loss(const Tensor& x, const Tensor& target, const L1LossFuncOptions& o) {
  return taeda::l1_loss(x, target, o.reduction());
}
template <class = void>
Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, const SmoothL1LossFuncOptions& o) {
  return taeda::smooth_l1_loss(x, target, o.reduction(), o.beta());
}
template <class = void>
Tensor huber_loss(const Tensor& x, const Tensor& target, const HuberLossFuncOptions& o) {
  return taeda::huber_loss(x, target, o.reduction(), o.delta());
}
/// Throws ValueError where sizes differ.
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                            ReductionArg reduction = Reduction::Mean);
Tensor binary_cross_entropy(const Tensor& x, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& o);
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o);
namespace detail {
void warn_of_mean();
}
/// kMean, which divides by all elements and not by the batch size, is warned of.
template <class = void>
Tensor kl_div(const Tensor& x, const Tensor& target, const KLDivFuncOptions& o) {
  const Reduction reduction(o.reduction);
  const bool batch_mean = o.reduction.is_batch_mean();
  if (reduction == kMean && !batch_mean) detail::warn_of_mean();
  return taeda::kl_div(x, target, reduction, o.log_target, batch_mean);
}
inline Tensor kl_div(const Tensor& x, const Tensor& target, BatchMean) {
  return taeda::kl_div(x, target, kSum, /*log_target=*/false, /*batch_mean=*/true);
}
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNLLLossFuncOptions& o);
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& o);
template <class = void>
Tensor soft_margin_loss(const Tensor& x, const Tensor& target, const SoftMarginLossFuncOptions& o) {
  return taeda::soft_margin_loss(x, target, o.reduction());
}
Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o);
Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o);
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o);

/// sum over the classes i other than the target's, y, of max(0, margin - x[y] + x[i])^p, times
/// weight[y], divided by the number of classes; `input` [N, C] or [C], `target` int64 [N] or one
/// number. Throws ValueError unless p is 1 or 2, Error for shapes and, on the CPU, for targets out
/// of range.
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options = {});
/// sum over targets j and other classes i of max(0, 1 - x[j] + x[i]), divided by the number of
/// classes; `input` and int64 `target` are [N, C] or [C], and a row's targets end with the first
/// negative one. Errors as above.
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options = {});
/// The mean, over the last dimension, of -(y log s(x) + (1 - y) log s(-x)) times the class's
/// weight, s the sigmoid.
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options = {});
/// triplet_margin_loss with any distance.
Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
