// Embedding as a function, and its options.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2 {
struct BagMaximum {};
/// The largest of each bag, for embedding_bag.
constexpr BagMaximum kMax;
}  // namespace taeda::inline v0_2

namespace taeda::inline v0_2::nn {

class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  /// The row that starts as zero and gets no gradient; negative counts from the end.
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
  /// Rows that are looked up are first scaled down to this norm, in place.
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  /// A row's gradient is divided by how often it was looked up.
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  /// The gradient is a sparse tensor of the rows that were looked up.
  TAEDA_ARG(bool, sparse) = false;
  /// Given instead of random initial values.
  TAEDA_ARG(Tensor, _weight);
};

/// As EmbeddingOptions, for weights that are given; `freeze`: they do not learn.
class EmbeddingFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(bool, sparse) = false;
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

class EmbeddingBagOptions {
 public:
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = kMean;
  /// The gradient is a sparse tensor of the rows that were looked up.
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(Tensor, _weight);
  /// The last offset is the end of the last bag.
  TAEDA_ARG(bool, include_last_offset) = false;
  /// The row that counts for nothing; negative counts from the end.
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

/// As EmbeddingBagOptions, for weights that are given; `freeze`: they do not learn.
class EmbeddingBagFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = kMean;
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(bool, include_last_offset) = false;
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

namespace functional {

class EmbeddingFuncOptions {
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(bool, sparse) = false;
};

class EmbeddingBagFuncOptions {
  TAEDA_ARG(Tensor, offsets);
  TAEDA_ARG(std::optional<double>, max_norm);
  TAEDA_ARG(double, norm_type) = 2;
  TAEDA_ARG(bool, scale_grad_by_freq) = false;
  TAEDA_ARG(EmbeddingBagMode, mode) = kMean;
  TAEDA_ARG(bool, sparse) = false;
  TAEDA_ARG(Tensor, per_sample_weights);
  TAEDA_ARG(bool, include_last_offset) = false;
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
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
