// Embedding as a function, and its options.
#pragma once

#include "taeda/base/arg.h"
#include "taeda/nn/types.h"

namespace taeda::nn {

class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAEDA_ARG(int64_t, num_embeddings);
  TAEDA_ARG(int64_t, embedding_dim);
  /// The row that starts as zero and gets no gradient; negative counts from the end.
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
  /// Given instead of random initial values.
  TAEDA_ARG(Tensor, _weight);
};

class EmbeddingFromPretrainedOptions {
  TAEDA_ARG(bool, freeze) = true;
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

namespace functional {

class EmbeddingFuncOptions {
  TAEDA_ARG(std::optional<int64_t>, padding_idx);
};

/// Rows of `weight` at the integers in `input`; the row `padding_idx` gets no gradient.
Tensor embedding(const Tensor& input, const Tensor& weight,
                 const EmbeddingFuncOptions& options = {});

}  // namespace functional
}  // namespace taeda::nn
