// A softmax over very many classes.
#pragma once

#include <functional>

#include "taeda/base/option.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/modules/linear.h"

namespace taeda::inline v0_2::nn {

/// Of module AdaptiveLogSoftmaxWithLoss.
struct AdaptiveLogSoftmaxWithLossOptions {
  /// How many numbers an input has.
  Option<int64_t> in_features;
  /// How many classes there are, ordered by falling frequency.
  Option<int64_t> n_classes;
  /// The first class of each cluster, ascending from 1 to below n_classes.
  Option<std::vector<int64_t>> cutoffs;
  /// Cluster i (from 1) sees in_features / div_value^i features.
  Option<double> div_value = 4.0;
  /// Whether the first softmax has a bias.
  Option<bool> head_bias = false;
};

/// What AdaptiveLogSoftmaxWithLoss gives.
struct ASMoutput {
  ASMoutput(Tensor o, double l) : output(std::move(o)), loss(l) {}
  /// The targets' log-probabilities.
  Tensor output;
  /// -output.mean() as a number; for a gradient take the mean of `output`.
  double loss;
};

namespace detail {
/// The log-probabilities of targets. `cutoffs` end with the number of classes; `head` gives the
/// logarithms of the first softmax, `cluster` those of the i-th cluster's for some of the rows.
Tensor adaptive_log_softmax(const Tensor& input, const Tensor& target,
                            const std::vector<int64_t>& cutoffs,
                            const std::function<Tensor(const Tensor&)>& head,
                            const std::function<Tensor(size_t, const Tensor&)>& cluster);
}  // namespace detail

/// Frequent classes and clusters of rarer ones share a first softmax, each cluster's classes
/// another one (Grave et al. 2017, arXiv:1609.04309).
class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  using Options = AdaptiveLogSoftmaxWithLossOptions;
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                 std::vector<int64_t> first_classes)
      : AdaptiveLogSoftmaxWithLossImpl(Options{in_features, n_classes, std::move(first_classes)}) {}
  /// Throws ValueError unless the cutoffs ascend between 1 and n_classes - 1.
  explicit AdaptiveLogSoftmaxWithLossImpl(Options o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  /// `input` [N, in_features] with targets [N], or [in_features] with one number. Throws Error for
  /// other shapes and targets outside [0, n_classes). Waits for the device.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  /// The log-probabilities of all classes, [N, n_classes].
  Tensor log_prob(const Tensor& input);
  /// The most probable class of each row, [N].
  Tensor predict(const Tensor& input) { return log_prob(input).argmax(1); }

  Options options;
  /// Those of the options and n_classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0, n_clusters = 0, head_size = 0;
  Linear head{nullptr};
  ModuleList tail{nullptr};

 private:
  /// Log-probabilities within cluster i.
  Tensor cluster(size_t i, const Tensor& input);
};
TAEDA_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace taeda::inline v0_2::nn
