// What a model is worth, over many batches: each metric is fed by update(), asked by compute(), and
// begun anew by reset().
//
//     training::Accuracy accuracy;
//     training::AUROC auroc;
//     for (auto& batch : *loader) accuracy.update(net(batch.data), batch.target);
//     std::cout << accuracy.compute().item<double>() << '\n';
//
// Values are float64 tensors on the CPU, of one element unless said otherwise. What update() is
// given may be on any device; no history is kept of it. Sums stay on the device, so that only
// compute() waits for it, where not said otherwise. compute() throws ValueError where nothing was
// given. `distributed::synced` (distributed/metrics.h) is the metric of all ranks' examples.
#pragma once

#include <optional>
#include <vector>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::training {

/// The base of metrics. update() takes tensors of a batch, whose shapes the metric says; a metric
/// that got none has no value.
class Metric {
 public:
  virtual ~Metric() = default;
  /// The value of all that was given since the last reset. Throws ValueError where that is nothing.
  virtual Tensor compute() const = 0;
  /// Forgets what was given, so that the metric is empty as at first.
  virtual void reset() = 0;
  /// What has been gathered since the last reset: a fixed number of tensors on the CPU, empty ones
  /// where nothing was given. Those of metrics that keep all they are given have shape (N, ...).
  virtual std::vector<Tensor> state() const = 0;
  /// Adds what a metric has gathered that must have the same kind and options.
  virtual void merge(const std::vector<Tensor>& state) = 0;
};

/// The base of metrics that are made of sums, one element for each class or one for all.
class SumMetric : public Metric {
 public:
  void reset() override { sums_ = {}; }
  std::vector<Tensor> state() const override;
  void merge(const std::vector<Tensor>& state) override;

 protected:
  explicit SumMetric(const char* name) : name_(name) {}
  /// Adds to the sums, a float64 tensor whose shape is always the same.
  void add(const Tensor& sums);
  /// The sums, on the CPU.
  Tensor sums() const;
  const char* name() const { return name_; }

 private:
  const char* name_;
  Tensor sums_;
};

/// The mean of numbers, each with a weight: of losses, say, with the number of their examples.
class Mean : public SumMetric {
 public:
  Mean() : SumMetric("Mean") {}
  /// `values` of any shape; each has weight `weight`.
  void update(const Tensor& values, double weight = 1);
  Tensor compute() const override;
};

/// What counts as right: by default the class with the highest score.
struct AccuracyOptions {
  int64_t top_k = 1;  ///< right is to have the class among the `top_k` highest; at least 1
  /// a class of targets that does not count; none by default
  std::optional<int64_t> ignore_index = {};
};

/// The share of targets that were met, between 0 and 1: scores [N, C, ...] or classes [N, ...],
/// targets [N, ...].
class Accuracy : public SumMetric {
 public:
  /// Throws ValueError for a top_k below 1.
  explicit Accuracy(AccuracyOptions options = {});
  /// `output` (N, C) or (N, C, d1, ...) of scores, or the shape of `target`, (N) or (N, d1, ...),
  /// of classes. Throws ValueError for other shapes, and where there are fewer classes than top_k.
  void update(const Tensor& output, const Tensor& target);
  Tensor compute() const override;

 private:
  AccuracyOptions options_;
};

/// How often which class is taken for which: shape (classes, classes), rows are the targets'
/// classes, columns those of the output.
class ConfusionMatrix : public SumMetric {
 public:
  /// Throws ValueError for fewer than 2 classes.
  explicit ConfusionMatrix(int64_t classes, std::optional<int64_t> ignore_index = {})
      : ConfusionMatrix("ConfusionMatrix", classes, ignore_index) {}
  /// As Accuracy's. Throws IndexError, which waits for the device, for a class that is none of
  /// 0, ..., classes - 1.
  void update(const Tensor& output, const Tensor& target);
  /// Whole numbers, in float64.
  Tensor compute() const override { return sums(); }

 protected:
  ConfusionMatrix(const char* name, int64_t classes, std::optional<int64_t> ignore_index);

 private:
  int64_t classes_;
  std::optional<int64_t> ignore_index_;
};

/// How classes become one number. Macro: the mean over classes that occur, in targets or output.
/// Micro: all examples as one class. Weighted: the mean by the number of targets. None: shape
/// (classes), 0 for those that do not occur.
enum class Average : uint8_t { None, Macro, Micro, Weighted };

/// The base of scores by class: hits over how often a class was the target, the output, or both,
/// between 0 and 1; scores [N, C], targets [N].
class ClassScore : public ConfusionMatrix {
 public:
  /// (a + b) hits / (a targets + b outputs) of each class, 0 where a class does not occur.
  Tensor compute() const override;

 protected:
  /// `a` counts targets, `b` outputs.
  ClassScore(const char* name, int64_t classes, Average average,
             std::optional<int64_t> ignore_index, double a, double b)
      : ConfusionMatrix(name, classes, ignore_index), average_(average), a_(a), b_(b) {}

 private:
  Average average_;
  double a_, b_;
};

/// The share of right examples among those that were taken for a class, between 0 and 1.
class Precision : public ClassScore {
 public:
  explicit Precision(int64_t classes, Average average = Average::Macro,
                     std::optional<int64_t> ignore_index = {})
      : ClassScore("Precision", classes, average, ignore_index, 0, 1) {}
};

/// The share of right examples among those of a class, between 0 and 1.
class Recall : public ClassScore {
 public:
  explicit Recall(int64_t classes, Average average = Average::Macro,
                  std::optional<int64_t> ignore_index = {})
      : ClassScore("Recall", classes, average, ignore_index, 1, 0) {}
};

/// The harmonic mean of precision and recall, between 0 and 1: 2 TP / (2 TP + FP + FN).
class F1Score : public ClassScore {
 public:
  explicit F1Score(int64_t classes, Average average = Average::Macro,
                   std::optional<int64_t> ignore_index = {})
      : ClassScore("F1Score", classes, average, ignore_index, 1, 1) {}
};

/// The area under the curve of the true positive rate over the false positive rate: how likely a
/// positive example has a higher score than a negative one, where equal scores count half (J. A.
/// Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
/// characteristic (ROC) curve", 1982). It keeps all scores.
class AUROC : public Metric {
 public:
  /// Scores and targets of the same shape, one dimension or more; targets are 0 or 1, scores no
  /// NaN. Throws ValueError for other values and shapes.
  void update(const Tensor& scores, const Tensor& target);
  /// Throws ValueError where all targets are of one class.
  Tensor compute() const override;
  void reset() override { scores_ = targets_ = {}; }
  std::vector<Tensor> state() const override;
  void merge(const std::vector<Tensor>& state) override;

 private:
  Tensor scores_, targets_;
};

/// The mean of |output - target|, over all elements.
class MeanAbsoluteError : public SumMetric {
 public:
  MeanAbsoluteError() : SumMetric("MeanAbsoluteError") {}
  /// Tensors of one shape; throws ValueError for others.
  void update(const Tensor& output, const Tensor& target);
  Tensor compute() const override;
};

/// The mean of (output - target)^2 over all elements; its root where not `squared`.
class MeanSquaredError : public SumMetric {
 public:
  explicit MeanSquaredError(bool squared = true)
      : SumMetric("MeanSquaredError"), squared_(squared) {}
  /// Tensors of one shape; throws ValueError for others.
  void update(const Tensor& output, const Tensor& target);
  Tensor compute() const override;

 private:
  bool squared_;
};

/// The coefficient of determination, 1 - sum (target - output)^2 / sum (target - mean)^2: 1 for an
/// output without error, 0 for one that is worth no more than the mean. For targets (N, M) the mean
/// of the M columns' coefficients.
class R2Score : public Metric {
 public:
  /// Tensors of one shape, (N) or (N, M); throws ValueError for others.
  void update(const Tensor& output, const Tensor& target);
  /// Throws ValueError for fewer than two examples, or where all targets of a column are equal.
  Tensor compute() const override;
  void reset() override { moments_ = {}; }
  std::vector<Tensor> state() const override;
  void merge(const std::vector<Tensor>& state) override;

 private:
  /// (4, M): examples, mean of the targets, their squares about it, squares of the errors.
  Tensor moments_;
};

/// exp of the mean of -log p(target), over all targets, from scores [..., V] that are not
/// normalised.
class Perplexity : public SumMetric {
 public:
  explicit Perplexity(std::optional<int64_t> ignore_index = {})
      : SumMetric("Perplexity"), ignore_index_(ignore_index) {}
  /// `logits` (..., V), not normalised, and `target` (...) of whole numbers from 0 to V - 1. Throws
  /// ValueError for other shapes.
  void update(const Tensor& logits, const Tensor& target);
  Tensor compute() const override;

 private:
  std::optional<int64_t> ignore_index_;
};

}  // namespace taeda::inline v0_2::training
