#include "taeda/nn/modules/adaptive.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/adaptive_rule.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/shape/join.h"

namespace taeda::inline v0_2::nn {

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  const auto& o = options;
  cutoffs = o.cutoffs();
  TAEDA_CHECK_VALUE(
      !cutoffs.empty() && cutoffs.front() > 0 && cutoffs.back() < o.n_classes() &&
          std::adjacent_find(cutoffs.begin(), cutoffs.end(), std::greater_equal<>()) ==
              cutoffs.end(),
      "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
      "where each value is between 1 and n_classes-1");
  cutoffs.push_back(o.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module(
      "head",
      Linear({.in_features = o.in_features(), .out_features = head_size, .bias = o.head_bias()}));
  tail = register_module("tail", ModuleList());
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const double divisor = std::pow(o.div_value(), static_cast<double>(i + 1));
    const auto hidden = static_cast<int64_t>(static_cast<double>(o.in_features()) / divisor);
    tail->push_back(Sequential{
        {"0", Linear({.in_features = o.in_features(), .out_features = hidden, .bias = false})},
        {"1", Linear({.in_features = hidden,
                      .out_features = cutoffs[i + 1] - cutoffs[i],
                      .bias = false})}});
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i)
    for (size_t k = 0; k < 2; ++k) tail->at<SequentialImpl>(i).at<LinearImpl>(k).reset_parameters();
}

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster(size_t i, const Tensor& input) {
  return tail->at<SequentialImpl>(i).forward(input).log_softmax(1);
}

Tensor detail::adaptive_log_softmax(const Tensor& input, const Tensor& target,
                                    const std::vector<int64_t>& cutoffs,
                                    const std::function<Tensor(const Tensor&)>& head,
                                    const std::function<Tensor(size_t, const Tensor&)>& cluster) {
  TAEDA_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  TAEDA_CHECK(target.dim() == 0 || input.size(0) == target.size(0),
              "Input and target should have the same size in the batch dimension.");
  TAEDA_CHECK(input.dim() == target.dim() + 1, target.dim(), "D target tensor expects ",
              target.dim() + 1, "D input tensors, but found inputs with size ", input.sizes());
  const bool batched = target.dim() == 1;
  const Tensor x = batched ? input : input.unsqueeze(0), y = batched ? target : target.unsqueeze(0);
  if (y.numel() > 0) {
    const auto low = y.min().item<int64_t>(), high = y.max().item<int64_t>();
    TAEDA_CHECK(low >= 0 && high < cutoffs.back(), "Target values should be in [0, ",
                cutoffs.back() - 1, "], but values in range [", low, ", ", high, "] were found. ");
  }
  const Tensor first = head(x);
  Tensor head_class = y, within = zeros({y.size(0)}, first.options().requires_grad(false));
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const Tensor inside = y.ge(cutoffs[i]).logical_and(y.lt(cutoffs[i + 1]));
    head_class = head_class.masked_fill(inside, cutoffs[0] + static_cast<int64_t>(i));
    const Tensor rows = inside.nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    const Tensor wanted = y.index_select(0, rows).sub(cutoffs[i]).unsqueeze(1);
    within =
        within.index_add(0, rows, cluster(i, x.index_select(0, rows)).gather(1, wanted).squeeze(1));
  }
  const Tensor output = first.gather(1, head_class.unsqueeze(1)).squeeze(1).add(within);
  return batched ? output : output.squeeze(0);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input, const Tensor& target) {
  const Tensor output = detail::adaptive_log_softmax(
      input, target, cutoffs, [this](const Tensor& x) { return head(x).log_softmax(1); },
      [this](size_t i, const Tensor& x) { return cluster(i, x); });
  return {output, -output.mean().item<double>()};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  const Tensor first = head(input).log_softmax(1);
  std::vector<Tensor> parts{first.narrow(1, 0, shortlist_size)};
  for (size_t i = 0; i < tail->size(); ++i)
    parts.push_back(
        cluster(i, input).add(first.narrow(1, shortlist_size + static_cast<int64_t>(i), 1)));
  return cat(parts, 1);
}

}  // namespace taeda::inline v0_2::nn
