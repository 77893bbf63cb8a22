// A softmax over very many classes.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/modules/linear.h"

namespace taeda::inline v0_2::nn {

/// Options of the module AdaptiveLogSoftmaxWithLoss: inputs [N, in_features] or [in_features],
/// targets [N] or one number.
struct AdaptiveLogSoftmaxWithLossOptions {
  /// How many numbers an input has: the size of its last dimension.
  Option<int64_t> in_features;
  /// How many classes there are; they must be numbered by falling frequency, from 0 on.
  Option<int64_t> n_classes;
  /// The first class of each cluster of rarer classes: positive, ascending numbers below n_classes,
  /// else ValueError.
  Option<std::vector<int64_t>> cutoffs;
  /// Cluster i, from 1, sees in_features / div_value^i features; 4 by default.
  Option<double> div_value = 4.0;
  /// Whether the first softmax, that of frequent classes and clusters, has a bias; false by
  /// default.
  Option<bool> head_bias = false;
};

/// The result of AdaptiveLogSoftmaxWithLoss: logarithms of probabilities, [N] or 0-dim, and their
/// mean loss as a number.
struct ASMoutput {
  ASMoutput(Tensor o, double l) : output(std::move(o)), loss(l) {}
  /// The logarithms of the targets' probabilities, [N], or 0-dim for a single input.
  Tensor output;
  /// -output.mean() as a number, without a history: for a gradient take the mean of `output`, which
  /// has the shape of the targets.
  double loss;
};

/// A softmax over very many classes: frequent ones and clusters of rarer ones share a first
/// softmax, each cluster's classes another one (Grave et al. 2017, arXiv:1609.04309). Inputs are
/// [N, in_features], targets [N]; a target out of range is an Error.
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
  /// The cutoffs of the options and n_classes behind them, and what follows from them: how many
  /// classes and clusters the first softmax has, its linear map [in_features, head_size], and those
  /// of the clusters.
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
