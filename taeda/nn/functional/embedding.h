// Embedding as a function, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2 {
struct BagMaximum {};
/// The largest of each bag, for embedding_bag.
constexpr BagMaximum kMax;
}  // namespace taeda::inline v0_2

namespace taeda::inline v0_2::nn {

/// Of module Embedding.
struct EmbeddingOptions {
  /// How many rows there are.
  Option<int64_t> num_embeddings;
  /// How many numbers a row has.
  Option<int64_t> embedding_dim;
  /// The row that starts as zero and gets no gradient; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
  /// The rows, [num_embeddings, embedding_dim], instead of random ones.
  Option<Tensor> _weight = Tensor();
};

/// Of Embedding::from_pretrained.
struct EmbeddingFromPretrainedOptions {
  /// Whether the rows do not learn.
  Option<bool> freeze = true;
  /// The row that gets no gradient; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
};

/// kSum, kMean or kMax.
class EmbeddingBagMode {
 public:
  /// Throws ValueError for kNone.
  EmbeddingBagMode(Reduction reduction) : reduction_(reduction) {
    TAEDA_CHECK_VALUE(reduction != kNone, "mode has to be one of sum, mean or max");
  }
  EmbeddingBagMode(BagMaximum) : reduction_(kNone) {}
  /// What stands for one of them.
  template <class E>
  requires(std::is_class_v<E>&& std::convertible_to<E, Reduction>) EmbeddingBagMode(E mode)
      : EmbeddingBagMode(static_cast<Reduction>(mode)) {}
  template <class E>
  requires(!std::same_as<E, BagMaximum> && std::convertible_to<E, BagMaximum>) EmbeddingBagMode(E)
      : reduction_(kNone) {}
  bool is_sum() const { return reduction_ == kSum; }
  bool is_mean() const { return reduction_ == kMean; }
  bool is_max() const { return reduction_ == kNone; }
  const char* name() const { return is_sum() ? "sum" : is_mean() ? "mean" : "max"; }

 private:
  Reduction reduction_;
};

/// Of module EmbeddingBag.
struct EmbeddingBagOptions {
  /// How many rows there are.
  Option<int64_t> num_embeddings;
  /// How many numbers a row has.
  Option<int64_t> embedding_dim;
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
  /// The rows, [num_embeddings, embedding_dim], instead of random ones.
  Option<Tensor> _weight = Tensor();
  /// Whether the last offset is the end of the last bag.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

/// Of EmbeddingBag::from_pretrained.
struct EmbeddingBagFromPretrainedOptions {
  /// Whether the rows do not learn.
  Option<bool> freeze = true;
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
  /// Whether the last offset is the end of the last bag.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

namespace functional {

/// Of embedding.
struct EmbeddingFuncOptions {
  /// The row that gets no gradient; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
};

/// Of embedding_bag.
struct EmbeddingBagFuncOptions {
  /// Where bags begin in a vector, [B], ascending from 0; undefined for a matrix.
  Option<Tensor> offsets = Tensor();
  /// Rows that are looked up are first scaled down to this norm, in place; without a value, none.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// Which norm that is.
  Option<double> norm_type = 2;
  /// Whether a row's gradient is divided by how often it was looked up.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the gradient is a sparse tensor of the rows that were looked up.
  Option<bool> sparse = false;
  /// Factors of the rows of sums, in the input's shape; undefined for none.
  Option<Tensor> per_sample_weights = Tensor();
  /// Whether the last offset is the end of the last bag.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing; negative counts from the end.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

/// Rows of `weight` at the integers in `input`; the row `padding_idx` gets no gradient. With
/// `max_norm`, those rows of `weight` are first scaled down where their norm is larger.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {});

/// The sums, means or maxima of bags of rows, [B, D]; an empty bag gives zeros. Bags are the rows
/// of a matrix `input` [B, L], or begin at `offsets` [B] in a vector `input` (offsets are read on
/// the host). `per_sample_weights`, in input's shape, multiply the rows of a sum. Throws
/// ValueError, NotImplementedError or Error for arguments that do not fit.
Tensor embedding_bag(const Tensor& input, const Tensor& weight,
                     const EmbeddingBagFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::inline v0_2::nn
