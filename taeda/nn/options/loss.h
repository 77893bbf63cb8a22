// Options of losses. Functions and modules take the same ones.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::nn {

/// Of losses that have no other setting.
class LossOptions {
 public:
  LossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TAEDA_ARG(Reduction, reduction);
};
using MSELossOptions = LossOptions;
using L1LossOptions = LossOptions;
using SoftMarginLossOptions = LossOptions;

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
}  // namespace functional
}  // namespace taeda::nn
