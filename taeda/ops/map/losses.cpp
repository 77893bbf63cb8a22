// Rules of losses: those of all elements, and then the mean or sum of each sample.
#include "taeda/ops/create/create.h"
#include "taeda/ops/create/tensor_literal.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/map/rules.h"

namespace taeda::inline v0_2::map_rules {

namespace {

using Kind = MapArgument::Kind;

ReductionArg* reduction_of(MapCall& call) {
  for (size_t i = 0; i < call.size(); ++i)
    if (call.is(i, Kind::Reduction)) return &call.at<ReductionArg>(i);
  return nullptr;
}

Tensor reduced(const Tensor& all, Reduction reduction) {
  if (reduction == Reduction::None || all.dim() == 1) return all;
  const Tensor rows = all.flatten(1);
  return reduction == Reduction::Sum ? rows.sum(IntArrayRef(1)) : rows.mean(IntArrayRef(1));
}

/// Losses of elements.
bool of_elements(MapCall& call) {
  ReductionArg& given = *reduction_of(call);
  const Reduction reduction = given;
  given = Reduction::None;
  in_front(call);
  call.results[0] = reduced(call.results[0], reduction);
  return true;
}

bool gaussian_nll(MapCall& call) {
  for (const MapOperand& o : call.operands)
    if (o.dims != call.operands[0].dims) return false;
  return of_elements(call);
}
bool kl_div(MapCall& call) { return !call.at<bool>(4) && of_elements(call); }

/// Losses of vectors, or of classes, along the last dimensions.
bool of_vectors(MapCall& call) {
  ReductionArg& given = *reduction_of(call);
  const Reduction reduction = given;
  // One vector has the loss of a batch of one.
  const int64_t dims = call.operands[0].dims;
  if (dims != 2) return false;
  call.expand_all();
  const int64_t batch = call.tensor(0).size(1);
  for (MapOperand& o : call.operands) {
    if (o.tensor->dim() < 2 || o.tensor->size(1) != batch) return false;
    *o.tensor = o.tensor->flatten(0, 1);
  }
  given = Reduction::None;
  call.results = {reduced(call.run_one().unflatten(0, {call.samples, batch}), reduction)};
  return true;
}

/// What the mean of a loss of classes divides by, for each sample.
Tensor weight_of_targets(const Tensor& target, const Tensor& weight, int64_t ignored,
                         const Tensor& like) {
  const Tensor counts = target.ne(Scalar(ignored));
  if (!weight.defined()) return counts.to(like.dtype());
  return weight.index_select(0, target.mul(counts).reshape({-1}))
      .reshape(target.sizes())
      .mul(counts);
}

/// Scores [C] or [N, C, ...] and classes, or as many probabilities.
bool of_classes(MapCall& call) {
  if (call.is_mapped(2)) return false;
  ReductionArg& given = *reduction_of(call);
  const Reduction reduction = given;
  const int64_t dims = call.operand(0)->dims, ignored = call.at<int64_t>(4);
  const bool smooth = call.is(5, Kind::Double) && call.at<double>(5) != 0;
  call.expand(*call.operand(0));
  call.expand(*call.operand(1));
  Tensor &x = call.tensor(0), &target = call.tensor(1);
  const bool probabilities = target.sizes() == x.sizes() && target.is_floating_point();
  const Tensor weight = call.operand(2) ? call.tensor(2) : Tensor();
  if (reduction == Reduction::Mean && smooth && (weight.defined() && !probabilities)) return false;
  const int64_t batch = dims > 1 ? x.size(1) : 1;
  const Tensor labels = target;
  if (dims > 1) {
    x = x.flatten(0, 1);
    target = target.flatten(0, 1);
  }
  given = Reduction::None;
  Tensor all = call.run_one();
  if (dims > 1) all = all.unflatten(0, {call.samples, batch});
  if (reduction != Reduction::Mean) {
    call.results = {reduced(all, reduction)};
  } else if (probabilities) {
    call.results = {reduced(all, reduction)};
  } else {
    const Tensor parts = weight_of_targets(labels, weight, ignored, all);
    call.results = {reduced(all, Reduction::Sum).div(reduced(parts, Reduction::Sum))};
  }
  return true;
}

/// The lengths of the targets of all samples, [samples, N]; those of argument `i` become a list of
/// all.
Tensor lengths_of_all(MapCall& call, size_t i) {
  if (call.is(i, Kind::Tensor)) {
    const Tensor lengths = call.tensor(i).reshape({call.samples, -1});
    call.tensor(i) = lengths.flatten();
    return lengths;
  }
  IntArrayRef& lengths = call.at<IntArrayRef>(i);
  DimVector all;
  for (int64_t b = 0; b < call.samples; ++b)
    for (const int64_t n : lengths) all.push_back(n);
  lengths = call.keep(std::move(all));
  return taeda::tensor(std::vector<int64_t>(lengths.begin(), lengths.end()))
      .view({call.samples, -1});
}

/// Alignments: the batches of all samples are one, in which a sample without a batch is one of one.
bool alignment(MapCall& call) {
  const int64_t dims = call.operand(0)->dims, target_dims = call.operand(1)->dims;
  if (dims < 2 || dims > 3 || call.samples == 0) return false;
  // Targets that stand one behind the other have as many labels in each sample.
  if (target_dims == 1 && call.is_mapped(3)) return false;
  call.expand_all();
  Tensor &scores = call.tensor(0), &targets = call.tensor(1);
  if (dims == 2) scores = scores.unsqueeze(2);
  const int64_t batch = scores.size(2);
  scores = scores.movedim(0, 1).flatten(1, 2);
  targets = targets.flatten(0, 1);
  lengths_of_all(call, 2);
  const Tensor lengths = lengths_of_all(call, 3);
  ReductionArg& given = call.at<ReductionArg>(5);
  const Reduction reduction = given;
  given = Reduction::None;
  Tensor all = call.run_one().unflatten(0, {call.samples, batch});
  if (reduction == Reduction::Mean)
    all = all.div(lengths.to(all.device(), all.dtype()).clamp_min(1));
  call.results = {dims == 2 ? all.squeeze(1) : reduced(all, reduction)};
  return true;
}

}  // namespace

void add_losses(Table& table) {
  add(table, of_elements,
      "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
      "binary_cross_entropy_with_logits poisson_nll_loss hinge_embedding_loss soft_margin_loss "
      "margin_ranking_loss");
  add(table, gaussian_nll, "gaussian_nll_loss");
  add(table, kl_div, "kl_div");
  add(table, of_vectors, "cosine_embedding_loss triplet_margin_loss");
  add(table, of_classes, "cross_entropy nll_loss");
  add(table, alignment, "ctc_loss");
}

}  // namespace taeda::inline v0_2::map_rules
