// Embedding.
#pragma once

#include "taeda/nn/cloneable.h"
#include "taeda/nn/functional/embedding.h"
#include "taeda/nn/holder.h"

namespace taeda::nn {

/// A row of `weight` [num_embeddings, embedding_dim] for each integer; normal initial values.
class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions o) : options(std::move(o)) { reset(); }
  void reset() override;
  void reset_parameters();
  std::string extra_repr() const override;
  Tensor forward(const Tensor& input) {
    return functional::embedding(
        input, weight, functional::EmbeddingFuncOptions().padding_idx(options.padding_idx()));
  }

  EmbeddingOptions options;
  Tensor weight;
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using Impl = EmbeddingImpl;
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  /// Rows given; they get no gradient unless `freeze` is false. Throws ValueError unless a matrix.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

}  // namespace taeda::nn
