#include "taeda/nn/functional/loss.h"

#include "taeda/base/warning.h"
#include "taeda/device/host_graph.h"
#include "taeda/nn/functional/distance.h"
#include "taeda/nn/functional/door.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/nn/loss_reduce.h"

namespace taeda::inline v0_2::nn::functional {

using taeda::detail::reduce_loss;

namespace {

/// Targets below `classes`, checked where looking at them costs nothing.
void check_range(const Tensor& target, int64_t low, int64_t classes, const char* message) {
  if (!taeda::detail::can_look_at_values(target.device()) || target.numel() == 0) return;
  TAEDA_CHECK(target.min().item<int64_t>() >= low && target.max().item<int64_t>() < classes,
              message);
}

}  // namespace

void detail::warn_of_mean() {
  TAEDA_WARN(
      "reduction: 'mean' divides the total loss by both the batch size and the support size."
      "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
      "'mean' will be changed to behave the same as 'batchmean' in the next major release.");
}

namespace {

Tensor do_multi_margin_loss(const Tensor& input, const Tensor& target, int64_t p, double margin,
                            const Tensor& weight, ReductionArg reduction) {
  TAEDA_CHECK_VALUE(p == 1 || p == 2, "only p == 1 and p == 2 supported");
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              input.sizes());
  const Tensor x = input.dim() == 1 ? input.unsqueeze(0) : input;
  const int64_t classes = x.size(1);
  TAEDA_CHECK(target.dim() <= 1 && target.numel() == x.size(0),
              "inconsistent target size, got: ", target.sizes());
  TAEDA_CHECK(target.dtype() == kLong, "expected scalar type Long but found ", target.dtype());
  check_range(target, 0, classes, "target out of range");
  const Tensor y = target.reshape({-1, 1});
  Tensor loss = x.sub(x.gather(1, y)).add(margin).clamp_min(0);
  if (p == 2) loss = loss.square();
  if (weight.defined()) {
    TAEDA_CHECK(weight.dim() == 1 && weight.numel() == classes,
                "inconsistent weight size, expected ", classes, " but got ", weight.sizes());
    loss = loss.mul(weight.index_select(0, y.squeeze(1)).unsqueeze(1));
  }
  loss = loss.scatter(1, y, 0).sum({1}).div(classes);
  return reduce_loss(input.dim() == 1 ? loss.squeeze(0) : loss, reduction);
}

Tensor do_multilabel_margin_loss(const Tensor& input, const Tensor& target,
                                 ReductionArg reduction) {
  TAEDA_CHECK(input.dim() == 1 || input.dim() == 2,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              input.sizes());
  TAEDA_CHECK(target.sizes() == input.sizes(), "inconsistent size ", target.sizes(),
              " for argument #2 'target'");
  const Tensor x = input.dim() == 1 ? input.unsqueeze(0) : input,
               y = target.dim() == 1 ? target.unsqueeze(0) : target;
  const int64_t classes = x.size(1);
  check_range(target, -1, classes, "argument #2 'target' is out of range");
  // Entries before the first negative one count.
  const Tensor counts = y.ge(0).to(kLong).cumprod(1).to(x.dtype()), index = y.clamp_min(0);
  const Tensor is_target = zeros_like(x.detach()).scatter_add(1, index, counts).gt(0);
  const Tensor margins =
      x.unsqueeze(1).sub(x.gather(1, index).unsqueeze(2)).add(1).clamp_min(0);  // [N, target, C]
  const Tensor loss = margins.mul(counts.unsqueeze(2))
                          .masked_fill(is_target.unsqueeze(1), 0)
                          .sum({1, 2})
                          .div(classes);
  return reduce_loss(input.dim() == 1 ? loss.squeeze(0) : loss, reduction);
}

}  // namespace

Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& o) {
  static constexpr OperationTraits traits{
      .name = "multi_margin_loss", .observed = false, .casts = {policy::Cast::float32}};
  return detail::through_door<&do_multi_margin_loss>(traits, input, target, o.p(), o.margin(),
                                                     o.weight(), o.reduction());
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& o) {
  static constexpr OperationTraits traits{
      .name = "multilabel_margin_loss", .observed = false, .casts = {policy::Cast::float32}};
  return detail::through_door<&do_multilabel_margin_loss>(traits, input, target, o.reduction());
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options) {
  Tensor loss = target.mul(taeda::log_sigmoid(input))
                    .add(target.neg().add(1).mul(taeda::log_sigmoid(input.neg())))
                    .neg();
  if (options.weight().defined()) loss = loss.mul(options.weight());
  return reduce_loss(loss.mean({-1}), options.reduction());
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b)
                                       : taeda::pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = far.minimum(distance(positive, negative));
  return reduce_loss(near.sub(far).add(options.margin()).clamp_min(0), options.reduction());
}

Tensor cross_entropy(const Tensor& x, const Tensor& target, const CrossEntropyFuncOptions& o) {
  return taeda::cross_entropy(x, target, o.weight(), o.reduction(), o.ignore_index(),
                              o.label_smoothing());
}

Tensor nll_loss(const Tensor& x, const Tensor& target, const NLLLossFuncOptions& o) {
  return taeda::nll_loss(x, target, o.weight(), o.reduction(), o.ignore_index());
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                            ReductionArg reduction) {
  TAEDA_CHECK_VALUE(x.sizes() == target.sizes(), "Using a target size (", target.sizes(),
                    ") that is different to the input size (", x.sizes(),
                    ") is deprecated. Please ensure they have the same size.");
  return taeda::binary_cross_entropy(x, target, weight, reduction);
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& o) {
  return functional::binary_cross_entropy(x, target, o.weight(), o.reduction());
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& o) {
  return taeda::binary_cross_entropy_with_logits(x, target, o.weight(), o.pos_weight(),
                                                 o.reduction());
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNLLLossFuncOptions& o) {
  return taeda::poisson_nll_loss(x, target, o.log_input(), o.full(), o.eps(), o.reduction());
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& o) {
  return taeda::hinge_embedding_loss(x, target, o.margin(), o.reduction());
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                           const MarginRankingLossFuncOptions& o) {
  return taeda::margin_ranking_loss(x1, x2, target, o.margin(), o.reduction());
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& o) {
  return taeda::cosine_embedding_loss(x1, x2, target, o.margin(), o.reduction());
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& o) {
  return taeda::triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(),
                                    o.swap(), o.reduction());
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& o) {
  return taeda::cosine_similarity(x1, x2, o.dim(), o.eps());
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& o) {
  return taeda::pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}

}  // namespace taeda::inline v0_2::nn::functional
