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

/// Options of the modules MSELoss, L1Loss, SoftMarginLoss and MultiLabelMarginLoss.
struct LossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};
using MSELossOptions = LossOptions;
using L1LossOptions = LossOptions;
using SoftMarginLossOptions = LossOptions;
using MultiLabelMarginLossOptions = LossOptions;

/// Options of the module SmoothL1Loss; input and target have one shape.
struct SmoothL1LossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// Below it a difference counts with its square, above with its size; at least 0.
  Option<double> beta = 1.0;
};

/// Options of the module HuberLoss, whose input and target have one shape.
struct HuberLossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// Up to it a difference counts with its square, beyond with its size; above 0.
  Option<double> delta = 1.0;
};

/// Options of the module CrossEntropyLoss: scores [N, C, ...], classes [N, ...] or probabilities.
struct CrossEntropyLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// The target that counts for nothing, neither in the loss nor in its mean; -100 by default.
  Option<int64_t> ignore_index = -100;
  /// kNone: a loss for each target; kMean, the default: their weighted mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
  /// The share of the uniform distribution in the target, from 0, the default, to 1; else an Error.
  Option<double> label_smoothing = 0.0;
};

/// Options of the module NLLLoss: log-probabilities [N, C, ...] or [C], classes [N, ...].
struct NLLLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// The target that counts for nothing, neither in the loss nor in its mean; -100 by default.
  Option<int64_t> ignore_index = -100;
  /// kNone: a loss for each target; kMean, the default: their weighted mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module BCELoss; input, probabilities, and target must have one shape.
struct BCELossOptions {
  /// A factor of each element's loss, broadcasting to the input; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module BCEWithLogitsLoss; input, logits, and target must have one shape.
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
  /// From an object of a class that converts to one of the reductions; the default is kMean.
  template <class E>
  requires(std::is_class_v<E> && !std::derived_from<E, KLDivReduction> &&
           std::convertible_to<E, Reduction>) KLDivReduction(E reduction)
      : reduction_(reduction) {}
  template <class E>
  requires(!std::same_as<E, BatchMean> && std::convertible_to<E, BatchMean>) KLDivReduction(E)
      : KLDivReduction(kBatchMean) {}
  /// The reduction of elements that it means: kSum for kBatchMean.
  operator Reduction() const { return reduction_; }
  bool is_batch_mean() const { return batch_mean_; }

 private:
  Reduction reduction_;
  bool batch_mean_ = false;
};

/// Options of the module KLDivLoss; input, log-probabilities, and target have one shape.
struct KLDivLossOptions {
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum; kBatchMean: their sum
  /// divided by the size of the batch.
  Option<KLDivReduction> reduction = kMean;
  /// Whether targets are logarithms of probabilities, too; false by default.
  Option<bool> log_target = false;
};

/// Options of the modules MarginRankingLoss and CosineEmbeddingLoss, whose target is [N], 1 or -1.
struct MarginRankingLossOptions {
  /// By how much the one that should be larger must be; of cosines, from -1 to 1, what those of
  /// pairs that differ may reach.
  Option<double> margin = 0;
  /// kNone: a loss for each pair; kMean, the default: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};
using CosineEmbeddingLossOptions = MarginRankingLossOptions;

/// Options of the module HingeEmbeddingLoss; distances and their targets have one shape.
struct HingeEmbeddingLossOptions {
  /// The distance from which on pairs with target -1 cost nothing; 1 by default.
  Option<double> margin = 1.0;
  /// kNone: a loss for each element; kMean: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module TripletMarginLoss, whose anchor, positive and negative are [N, D] or [D].
struct TripletMarginLossOptions {
  /// By how much the negative must be farther than the positive, above 0.
  Option<double> margin = 1.0;
  /// The exponent p of the norm that is the distance; 2 by default.
  Option<double> p = 2.0;
  /// The number that is added to each difference, so that 0 has a gradient; 1e-6 by default.
  Option<double> eps = 1e-6;
  /// Whether the negative's distance is the smaller one of those to anchor and positive.
  Option<bool> swap = false;
  /// kNone: a loss for each triplet, [N]; kMean, the default: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module TripletMarginWithDistanceLoss; all three inputs are [N, ...].
struct TripletMarginWithDistanceLossOptions {
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// The distance of two batches [N, D], [N]; pairwise_distance unless given.
  Option<std::optional<distance_function_t>> distance_function = std::nullopt;
  /// By how much the negative must be farther than the positive, above 0.
  Option<double> margin = 1.0;
  /// Whether the negative's distance is the smaller one of those to anchor and positive.
  Option<bool> swap = false;
  /// kNone: a loss for each triplet, [N]; kMean, the default: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module MultiMarginLoss: scores are [N, C] or [C], classes [N] or one number.
struct MultiMarginLossOptions {
  /// The exponent of each class's part, 1, the default, or 2; else ValueError.
  Option<int64_t> p = 1;
  /// By how much the target's score must be larger than others.
  Option<double> margin = 1.0;
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each example, [N]; kMean, the default: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module MultiLabelSoftMarginLoss, whose input and target, 0 and 1, are [N, C].
struct MultiLabelSoftMarginLossOptions {
  /// A factor of each class, [C]; undefined for none.
  Option<Tensor> weight = Tensor();
  /// kNone: a loss for each example, [N]; kMean, the default: their mean; kSum: their sum.
  Option<Reduction> reduction = kMean;
};

/// Options of the module PoissonNLLLoss, whose input and target broadcast to one shape.
struct PoissonNLLLossOptions {
  /// Whether the input is the logarithm of the mean, the default, or the mean itself.
  Option<bool> log_input = true;
  /// Whether Stirling's approximation of log(target!) is added; false by default.
  Option<bool> full = false;
  /// The number that is added to an input before its logarithm is taken; 1e-8 by default.
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
/// max(0, d(a, p) - d(a, n) + margin) with any distance d of anchor, positive and negative, [N,
/// ...] each; it gives the shape of the distance, [N], or one number.
Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
