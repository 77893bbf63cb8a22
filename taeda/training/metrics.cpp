#include "taeda/training/metrics.h"

#include <limits>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/elementwise/elementwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::training {

namespace {

/// Devices may lack float64; then sums are of float32.
Tensor exact(const Tensor& t) { return t.to(kDouble); }

void check_same_shape(const char* metric, const Tensor& output, const Tensor& target) {
  TAEDA_CHECK_VALUE(output.sizes() == target.sizes(), metric,
                    ".update: expected output and target of one shape, but got ", output.sizes(),
                    " and ", target.sizes());
}

/// Whether `output` holds scores of classes, in dimension 1, rather than classes.
bool has_scores(const char* metric, const Tensor& output, const Tensor& target) {
  if (output.sizes() == target.sizes() && output.dim() > 0) return false;
  bool fits =
      output.dim() == target.dim() + 1 && target.dim() > 0 && output.size(0) == target.size(0);
  for (int64_t d = 1; fits && d < target.dim(); ++d) fits = output.size(d + 1) == target.size(d);
  TAEDA_CHECK_VALUE(fits, metric,
                    ".update: expected output (N, C, ...) of scores or (N, ...) of classes for "
                    "target (N, ...), but got output ",
                    output.sizes(), " and target ", target.sizes());
  return true;
}

Tensor kept(const Tensor& target, std::optional<int64_t> ignore_index) {
  return ignore_index ? target.ne(*ignore_index) : ones_like(target, kBool);
}

/// The sum over all elements, and their number.
Tensor sum_and_count(const Tensor& of) {
  const Tensor sum = of.sum();
  return stack({sum, full_like(sum, static_cast<double>(of.numel()))});
}

Tensor classes_of(const char* metric, const Tensor& output, const Tensor& target) {
  return has_scores(metric, output, target) ? output.argmax(1) : output;
}

}  // namespace

std::vector<Tensor> SumMetric::state() const {
  return {sums_.defined() ? sums_.to(kCPU) : empty({0}, kDouble)};
}

void SumMetric::merge(const std::vector<Tensor>& state) {
  TAEDA_CHECK_VALUE(state.size() == 1, name_, ".merge: expected a state of 1 tensor, but got ",
                    state.size());
  if (state[0].numel() > 0) add(state[0]);
}

void SumMetric::add(const Tensor& sums) {
  const NoGradGuard no_grad;
  if (!sums_.defined()) {
    sums_ = exact(sums).clone();
    return;
  }
  TAEDA_CHECK_VALUE(sums_.sizes() == sums.sizes(), name_, ": sums of shape ", sums.sizes(),
                    " are of another metric than those of shape ", sums_.sizes());
  sums_.add_(sums.to(sums_.device()));
}

Tensor SumMetric::sums() const {
  TAEDA_CHECK_VALUE(sums_.defined(), name_,
                    ".compute: update() was not called since the last reset");
  return sums_.to(kCPU);
}

void Mean::update(const Tensor& values, double weight) {
  const NoGradGuard no_grad;
  add(sum_and_count(exact(values)) * weight);
}

namespace {

Tensor quotient(const char* metric, const Tensor& sums) {
  TAEDA_CHECK_VALUE(sums[1].item<double>() != 0, metric,
                    ".compute: nothing was counted since the last reset");
  return sums[0] / sums[1];
}

}  // namespace

Tensor Mean::compute() const { return quotient(name(), sums()); }

Accuracy::Accuracy(AccuracyOptions options) : SumMetric("Accuracy"), options_(options) {
  TAEDA_CHECK_VALUE(options.top_k >= 1, "Accuracy: expected top_k to be at least 1, but got ",
                    options.top_k);
}

void Accuracy::update(const Tensor& output, const Tensor& target) {
  const NoGradGuard no_grad;
  const bool scores = has_scores(name(), output, target);
  TAEDA_CHECK_VALUE(options_.top_k == 1 || (scores && output.size(1) >= options_.top_k), name(),
                    ".update: expected scores of at least top_k = ", options_.top_k,
                    " classes, but got output ", output.sizes());
  const Tensor hits =
      options_.top_k == 1
          ? classes_of(name(), output, target).eq(target)
          : std::get<1>(output.topk(options_.top_k, 1)).eq(target.unsqueeze(1)).any(1);
  const Tensor counted = kept(target, options_.ignore_index);
  add(stack({exact(hits.logical_and(counted)).sum(), exact(counted).sum()}));
}

Tensor Accuracy::compute() const { return quotient(name(), sums()); }

ConfusionMatrix::ConfusionMatrix(const char* name, int64_t classes,
                                 std::optional<int64_t> ignore_index)
    : SumMetric(name), classes_(classes), ignore_index_(ignore_index) {
  TAEDA_CHECK_VALUE(classes >= 2, name, ": expected at least 2 classes, but got ", classes);
}

void ConfusionMatrix::update(const Tensor& output, const Tensor& target) {
  const NoGradGuard no_grad;
  const Tensor counted = kept(target, ignore_index_);
  const Tensor taken = classes_of(name(), output, target).masked_select(counted).to(kLong);
  const Tensor right = target.masked_select(counted).to(kLong);
  for (const auto& [what, classes] : {std::pair{"output", taken}, std::pair{"target", right}})
    if (classes.numel() > 0) {
      const auto least = classes.min().item<int64_t>(), most = classes.max().item<int64_t>();
      TAEDA_CHECK_INDEX(least >= 0 && most < classes_, name(), ".update: class ",
                        least < 0 ? least : most, " of the ", what, " is none of 0 to ",
                        classes_ - 1);
    }
  add(exact((right * classes_ + taken).bincount({}, classes_ * classes_))
          .view({classes_, classes_}));
}

Tensor ClassScore::compute() const {
  const Tensor confusion = sums(), targets = confusion.sum(1), outputs = confusion.sum(0);
  TAEDA_CHECK_VALUE(targets.sum().item<double>() > 0, name(),
                    ".compute: nothing was counted since the last reset");
  const Tensor hits = confusion.diagonal() * (a_ + b_), counted = targets * a_ + outputs * b_;
  if (average_ == Average::Micro) return hits.sum() / counted.sum();
  const Tensor each = hits / counted.clamp_min(1);
  switch (average_) {
    case Average::Macro: {
      const Tensor occurs = exact((targets + outputs).gt(0));
      return (each * occurs).sum() / occurs.sum();
    }
    case Average::Weighted: return (each * targets).sum() / targets.sum();
    default: return each;
  }
}

void AUROC::update(const Tensor& scores, const Tensor& target) {
  const NoGradGuard no_grad;
  check_same_shape("AUROC", scores, target);
  TAEDA_CHECK_VALUE(scores.dim() > 0,
                    "AUROC.update: expected scores of one dimension or more, but got a scalar");
  const Tensor s = exact(scores.detach().flatten().to(kCPU)), t = exact(target.flatten().to(kCPU));
  TAEDA_CHECK_VALUE(!s.isnan().any().item<bool>(), "AUROC.update: a score is not a number");
  TAEDA_CHECK_VALUE(t.eq(0).logical_or(t.eq(1)).all().item<bool>(),
                    "AUROC.update: expected targets that are 0 or 1");
  merge({s, t});
}

Tensor AUROC::compute() const {
  TAEDA_CHECK_VALUE(scores_.defined(),
                    "AUROC.compute: update() was not called since the last reset");
  const auto positives = targets_.sum().item<double>();
  const double negatives = static_cast<double>(targets_.numel()) - positives;
  TAEDA_CHECK_VALUE(positives > 0 && negatives > 0, "AUROC.compute: all ", targets_.numel(),
                    " targets are ", positives > 0 ? 1 : 0, ", and both classes are needed");
  // Pairs in which the positive one is higher, by the sum of ranks, equal scores having the mean of
  // theirs.
  const auto [values, inverse, count] = unique(scores_, true, true);
  const Tensor of_value = exact(count);
  const Tensor mean_rank = of_value.cumsum(0) - (of_value - 1) / 2;
  const Tensor rank_sum = (mean_rank.index_select(0, inverse) * targets_).sum();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

std::vector<Tensor> AUROC::state() const {
  if (!scores_.defined()) return {empty({0}, kDouble), empty({0}, kDouble)};
  return {scores_, targets_};
}

void AUROC::merge(const std::vector<Tensor>& state) {
  TAEDA_CHECK_VALUE(state.size() == 2 && state[0].sizes() == state[1].sizes(),
                    "AUROC.merge: expected a state of 2 tensors of one shape");
  if (state[0].numel() == 0) return;
  scores_ = scores_.defined() ? cat({scores_, state[0]}) : state[0];
  targets_ = targets_.defined() ? cat({targets_, state[1]}) : state[1];
}

void MeanAbsoluteError::update(const Tensor& output, const Tensor& target) {
  const NoGradGuard no_grad;
  check_same_shape(name(), output, target);
  add(sum_and_count((exact(output) - exact(target)).abs()));
}

Tensor MeanAbsoluteError::compute() const { return quotient(name(), sums()); }

void MeanSquaredError::update(const Tensor& output, const Tensor& target) {
  const NoGradGuard no_grad;
  check_same_shape(name(), output, target);
  add(sum_and_count((exact(output) - exact(target)).square()));
}

Tensor MeanSquaredError::compute() const {
  const Tensor mean = quotient(name(), sums());
  return squared_ ? mean : mean.sqrt();
}

void R2Score::update(const Tensor& output, const Tensor& target) {
  const NoGradGuard no_grad;
  check_same_shape("R2Score", output, target);
  TAEDA_CHECK_VALUE(target.dim() == 1 || target.dim() == 2,
                    "R2Score.update: expected tensors of shape (N) or (N, M), but got ",
                    target.sizes());
  if (target.size(0) == 0) return;
  const Tensor t = exact(target.reshape({target.size(0), -1})), mean = t.mean(0);
  const Tensor errors = exact(output).reshape(t.sizes()) - t;
  merge({stack({full_like(mean, static_cast<double>(t.size(0))), mean, (t - mean).square().sum(0),
                errors.square().sum(0)})
             .to(kCPU)});
}

/// Moments of two parts as those of both: T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating
/// formulae and a pairwise algorithm for computing sample variances", 1979.
void R2Score::merge(const std::vector<Tensor>& state) {
  TAEDA_CHECK_VALUE(state.size() == 1, "R2Score.merge: expected a state of 1 tensor, but got ",
                    state.size());
  if (state[0].numel() == 0) return;
  if (!moments_.defined()) {
    moments_ = state[0].clone();
    return;
  }
  TAEDA_CHECK_VALUE(moments_.sizes() == state[0].sizes(), "R2Score: targets of ", state[0].size(1),
                    " columns after those of ", moments_.size(1));
  const Tensor &a = moments_, &b = state[0];
  const Tensor count = a[0] + b[0], apart = b[1] - a[1];
  moments_ = stack({count, a[1] + apart * b[0] / count,
                    a[2] + b[2] + apart.square() * a[0] * b[0] / count, a[3] + b[3]});
}

std::vector<Tensor> R2Score::state() const {
  return {moments_.defined() ? moments_ : empty({0}, kDouble)};
}

Tensor R2Score::compute() const {
  const int64_t count = moments_.defined() ? moments_[0][0].item<int64_t>() : 0;
  TAEDA_CHECK_VALUE(count >= 2, "R2Score.compute: needs at least 2 examples, but got ", count);
  TAEDA_CHECK_VALUE(moments_[2].gt(0).all().item<bool>(),
                    "R2Score.compute: all targets of a column are equal");
  return (1 - moments_[3] / moments_[2]).mean();
}

void Perplexity::update(const Tensor& logits, const Tensor& target) {
  const NoGradGuard no_grad;
  TAEDA_CHECK_VALUE(logits.dim() >= 1 && logits.sizes().slice(0, static_cast<size_t>(logits.dim()) -
                                                                     1) == target.sizes(),
                    "Perplexity.update: expected logits (..., V) for target (...), but got ",
                    logits.sizes(), " and ", target.sizes());
  constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  const Tensor right = target.flatten();
  const Tensor loss = cross_entropy(logits.reshape({-1, logits.size(-1)}), right, {},
                                    Reduction::None, ignore_index_.value_or(kNone));
  add(stack({exact(loss).sum(), exact(kept(right, ignore_index_)).sum()}));
}

Tensor Perplexity::compute() const { return quotient(name(), sums()).exp(); }

}  // namespace taeda::inline v0_2::training
