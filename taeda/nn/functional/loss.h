// Losses as functions, and the options that functions and modules share.
#pragma once

#include <functional>

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"
#include "taeda/ops/nn/loss.h"

namespace taeda::inline v0_2::nn {

/// Of losses that have no other setting.
class LossOptions {
 public:
  LossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TAEDA_ARG(Reduction, reduction);
};
using MSELossOptions = LossOptions;
using L1LossOptions = LossOptions;
using SoftMarginLossOptions = LossOptions;
using MultiLabelMarginLossOptions = LossOptions;

class SmoothL1LossOptions {
 public:
  SmoothL1LossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TAEDA_ARG(Reduction, reduction);
  TAEDA_ARG(double, beta) = 1.0;
};

class HuberLossOptions {
 public:
  HuberLossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TAEDA_ARG(Reduction, reduction);
  TAEDA_ARG(double, delta) = 1.0;
};

class CrossEntropyLossOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(int64_t, ignore_index) = -100;
  TAEDA_ARG(Reduction, reduction) = kMean;
  TAEDA_ARG(double, label_smoothing) = 0.0;
};

class NLLLossOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(int64_t, ignore_index) = -100;
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class BCELossOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class BCEWithLogitsLossOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Reduction, reduction) = kMean;
  TAEDA_ARG(Tensor, pos_weight);
};

class KLDivLossOptions {
 public:
  KLDivLossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  KLDivLossOptions(BatchMean) : reduction_(kSum), batch_mean_(true) {}
  KLDivLossOptions& reduction(Reduction value) { return set(value, false); }
  KLDivLossOptions& reduction(BatchMean) { return set(kSum, true); }
  /// kSum for kBatchMean
  Reduction reduction() const { return reduction_; }
  bool is_batch_mean() const { return batch_mean_; }
  TAEDA_ARG(bool, log_target) = false;

 private:
  KLDivLossOptions& set(Reduction reduction, bool batch_mean) {
    reduction_ = reduction;
    batch_mean_ = batch_mean;
    return *this;
  }
  Reduction reduction_;
  bool batch_mean_ = false;
};

class MarginRankingLossOptions {
  TAEDA_ARG(double, margin) = 0;
  TAEDA_ARG(Reduction, reduction) = kMean;
};
using CosineEmbeddingLossOptions = MarginRankingLossOptions;

class HingeEmbeddingLossOptions {
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class TripletMarginLossOptions {
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(double, p) = 2.0;
  TAEDA_ARG(double, eps) = 1e-6;
  TAEDA_ARG(bool, swap) = false;
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class TripletMarginWithDistanceLossOptions {
 public:
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  /// pairwise_distance unless given.
  TAEDA_ARG(std::optional<distance_function_t>, distance_function);
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(bool, swap) = false;
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class MultiMarginLossOptions {
  TAEDA_ARG(int64_t, p) = 1;
  TAEDA_ARG(double, margin) = 1.0;
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class MultiLabelSoftMarginLossOptions {
  TAEDA_ARG(Tensor, weight);
  TAEDA_ARG(Reduction, reduction) = kMean;
};

class PoissonNLLLossOptions {
  TAEDA_ARG(bool, log_input) = true;
  TAEDA_ARG(bool, full) = false;
  TAEDA_ARG(double, eps) = 1e-8;
  TAEDA_ARG(Reduction, reduction) = kMean;
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
  if (o.reduction() == kMean) detail::warn_of_mean();
  return taeda::kl_div(x, target, o.reduction(), o.log_target(), o.is_batch_mean());
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
}  // namespace taeda::nn
