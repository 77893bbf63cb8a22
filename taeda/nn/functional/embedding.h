// Embedding as a function, and its options.
#pragma once

#include "taeda/base/option.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2 {
struct BagMaximum {};
/// The mode of embedding_bag and EmbeddingBag that takes the largest element of each column of a
/// bag.
constexpr BagMaximum kMax;
}  // namespace taeda::inline v0_2

namespace taeda::inline v0_2::nn {

/// Options of the module Embedding: integers of any shape give rows, [*, embedding_dim].
struct EmbeddingOptions {
  /// How many rows there are; indices are from 0 to below this number.
  Option<int64_t> num_embeddings;
  /// How many numbers a row has: the size of the result's last dimension.
  Option<int64_t> embedding_dim;
  /// The row that starts as zeros and gets no gradient, negative from the end; none by default. A
  /// number out of range is an Error.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
  /// The rows, [num_embeddings, embedding_dim], instead of random ones.
  Option<Tensor> _weight = Tensor();
};

/// Options of Embedding::from_pretrained, which makes a module of given rows, [num_embeddings,
/// embedding_dim].
struct EmbeddingFromPretrainedOptions {
  /// Whether the rows are constant, that is require no gradient; true by default.
  Option<bool> freeze = true;
  /// The row that gets no gradient, negative from the end; none by default. A number out of range
  /// is an Error.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
};

/// What becomes of the rows of a bag: kSum, kMean, or kMax for the largest of each column. kNone is
/// refused with ValueError.
class EmbeddingBagMode {
 public:
  /// Throws ValueError for kNone.
  EmbeddingBagMode(Reduction reduction) : reduction_(reduction) {
    TAEDA_CHECK_VALUE(reduction != kNone, "mode has to be one of sum, mean or max");
  }
  EmbeddingBagMode(BagMaximum) : reduction_(kNone) {}
  /// From an object of a class that converts to one of the modes; throws ValueError for kNone.
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

/// Options of the module EmbeddingBag: bags of rows give [B, embedding_dim], B the number of bags.
struct EmbeddingBagOptions {
  /// How many rows there are; indices are from 0 to below this number.
  Option<int64_t> num_embeddings;
  /// How many numbers a row has: the size of the result's last dimension.
  Option<int64_t> embedding_dim;
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean, the default, or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
  /// The rows, [num_embeddings, embedding_dim], instead of random ones.
  Option<Tensor> _weight = Tensor();
  /// Whether the last offset is the end of the last bag rather than the start of one more, so that
  /// there are B + 1 offsets; false by default.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing in a bag and gets no gradient, negative from the end; none by
  /// default.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

/// Options of EmbeddingBag::from_pretrained, which makes a module of given rows, [num_embeddings,
/// embedding_dim].
struct EmbeddingBagFromPretrainedOptions {
  /// Whether the rows are constant, that is require no gradient; true by default.
  Option<bool> freeze = true;
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean, the default, or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
  /// Whether the last offset is the end of the last bag rather than the start of one more, so that
  /// there are B + 1 offsets; false by default.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing in a bag and gets no gradient, negative from the end; none by
  /// default.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

namespace functional {

/// Options of the function embedding: integers of any shape give rows, [*, D] with weights [V, D].
struct EmbeddingFuncOptions {
  /// The row that gets no gradient, negative from the end; none by default. A number out of range
  /// is an Error.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
};

/// Options of the function embedding_bag: bags of rows give [B, D] with weights [V, D], B the
/// number of bags.
struct EmbeddingBagFuncOptions {
  /// Where bags begin in a vector, [B], ascending from 0; undefined for a matrix.
  Option<Tensor> offsets = Tensor();
  /// The largest norm of a row: rows that are looked up are first scaled down to it, in place. By
  /// default none are.
  Option<std::optional<double>> max_norm = std::nullopt;
  /// The exponent p of the norm that `max_norm` limits; 2 by default.
  Option<double> norm_type = 2;
  /// Whether the gradient of a row is divided by how often the call has looked it up; false by
  /// default.
  Option<bool> scale_grad_by_freq = false;
  /// What becomes of a bag's rows: kSum, kMean, the default, or kMax.
  Option<EmbeddingBagMode> mode = kMean;
  /// Whether the weight's gradient is a sparse tensor that holds only rows that were looked up;
  /// false by default.
  Option<bool> sparse = false;
  /// Factors of the rows of sums, in the input's shape; undefined for none.
  Option<Tensor> per_sample_weights = Tensor();
  /// Whether the last offset is the end of the last bag rather than the start of one more, so that
  /// there are B + 1 offsets; false by default.
  Option<bool> include_last_offset = false;
  /// The row that counts for nothing in a bag and gets no gradient, negative from the end; none by
  /// default.
  Option<std::optional<int64_t>> padding_idx = std::nullopt;
};

/// Rows of `weight` [V, D] at the int32 or int64 numbers in `input` [*]: [*, D]. The row
/// `padding_idx` gets no gradient. With `max_norm`, those rows of `weight` are first scaled down
/// where their norm is larger. Throws IndexError, on the CPU, for a number outside [0, V).
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
